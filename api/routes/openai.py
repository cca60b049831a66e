"""The part of OpenAI's API that its clients need: a collection is a model."""

from fastapi import APIRouter

router = APIRouter()
