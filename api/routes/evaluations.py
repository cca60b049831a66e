"""Evaluations: runs over the golden cases, compared with each other."""

from fastapi import APIRouter

router = APIRouter()
