"""Searches without an answer: what is found, by which stages, and how fast."""

from fastapi import APIRouter

router = APIRouter()
