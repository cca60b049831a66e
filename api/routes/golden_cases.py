"""Golden cases: questions with the documents that answer them, against which retrieval is measured."""

from fastapi import APIRouter

router = APIRouter()
