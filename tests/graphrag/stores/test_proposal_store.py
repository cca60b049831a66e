"""Proposed golden cases in PostgreSQL: no cases until a person accepts them; none outlives what it was made from."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from graphrag.errors import CollectionNotFound, GoldenCaseExists, InvalidGoldenCase
from graphrag.models.conversations import Message, MessageStatus
from graphrag.models.evaluation import (
    CaseEdits,
    CaseProposal,
    DocumentProposal,
    DocumentReference,
    ProposalDecided,
    ProposalNotFound,
    ProposalState,
)
from graphrag.services import Services
from tests.golden_library import HORNO, PUENTE, TEXTS, TINS, Shelf, draft, open_shelf


@pytest.fixture
async def shelf(services: Services, owner: str) -> Shelf:
    return await open_shelf(services, owner)


async def made(shelf: Shelf, query: str = HORNO, filename: str = "horno.md", **fields: Any) -> DocumentProposal:
    (document,) = await shelf.services.store.find_documents(shelf.collection, ids=[shelf.id(filename)])
    quote = TEXTS[filename].split("\n\n")[1].strip()
    proposal = DocumentProposal(query, document.id, document.content_hash, quote, quote, "causal", "easy", ("cause",))
    return replace(proposal, **fields)


async def propose(shelf: Shelf, *proposals: DocumentProposal) -> list[CaseProposal]:
    return await shelf.services.proposals.add(shelf.collection, proposals)


async def listed(shelf: Shelf, **filters: Any) -> list[CaseProposal]:
    return await shelf.services.proposals.list_all(shelf.collection, **filters)


async def rows(shelf: Shelf) -> str:
    """Whatever the table holds of the owner's."""
    async with shelf.services.database.transaction(shelf.collection.owner_id) as connection:
        return str(await (await connection.execute("SELECT * FROM golden_proposals")).fetchall())


async def test_a_proposal_is_no_case_until_it_is_accepted(shelf: Shelf) -> None:
    """R10.1 it is in no list and no version; accepted, it is a case like any other, and says which."""
    golden, owner = shelf.services.golden, shelf.collection.owner_id
    (proposal,) = await propose(shelf, await made(shelf))
    assert (proposal.state, proposal.origin, proposal.method) == (ProposalState.PROPOSED, "document", "rules")
    assert await golden.list_all(shelf.collection) == []
    assert (await golden.add_version(shelf.collection)).case_count == 0
    case_id = await shelf.services.proposals.accept(owner, proposal.id)
    (case,) = await golden.list_all(shelf.collection)
    assert (case.id, case.query, case.category, case.difficulty) == (case_id, HORNO, "causal", "easy")
    assert case.relevant_document_ids == (shelf.id("horno.md"),)
    (kept,) = await listed(shelf, case_id=case_id)
    assert (kept.id, kept.state, kept.document_id) == (proposal.id, ProposalState.ACCEPTED, shelf.id("horno.md"))
    assert kept.decided_at is not None


async def test_what_is_known_is_not_proposed(shelf: Shelf) -> None:
    """R10.1 neither golden cases nor what was proposed, accepted or rejected before, whatever its capitals."""
    store, owner = shelf.services.proposals, shelf.collection.owner_id
    await shelf.add(draft(PUENTE, "puente.md"))
    new = await propose(
        shelf,
        await made(shelf),
        await made(shelf, "por qué FALLÓ el horno H2"),
        await made(shelf, PUENTE, "puente.md"),
        await made(shelf, " ¿? "),
        await made(shelf, TINS, "stock.md"),
    )
    assert [proposal.query for proposal in new] == [HORNO, TINS]
    await store.accept(owner, new[0].id)
    await store.reject(owner, new[1].id)
    assert await propose(shelf, await made(shelf), await made(shelf, TINS, "stock.md")) == []
    assert [proposal.state for proposal in await listed(shelf)] == [ProposalState.ACCEPTED, ProposalState.REJECTED]


async def test_what_a_person_changes_counts(shelf: Shelf) -> None:
    """R10.1 with the checks of every case: documents exist, no question comes twice; a refusal decides nothing."""
    store, owner = shelf.services.proposals, shelf.collection.owner_id
    await shelf.add(draft(PUENTE, "puente.md"))
    (proposal,) = await propose(shelf, await made(shelf))
    with pytest.raises(GoldenCaseExists):
        await store.accept(owner, proposal.id, CaseEdits(query=PUENTE))
    with pytest.raises(InvalidGoldenCase):
        await store.accept(owner, proposal.id, CaseEdits(documents=[DocumentReference(id=uuid4())]))
    with pytest.raises(InvalidGoldenCase):
        await store.accept(owner, proposal.id, CaseEdits(query=" ¿? "))
    assert (await store.find(owner, proposal.id)).state is ProposalState.PROPOSED
    edits = CaseEdits("¿Qué falló?", [DocumentReference(filename="puente.md")], "", "factual", "hard", ["a", "b"])
    case = await shelf.services.golden.find(owner, await store.accept(owner, proposal.id, edits))
    assert (case.query, case.expected_answer, case.category, case.difficulty) == ("¿Qué falló?", "", "factual", "hard")
    assert (case.relevant_document_ids, case.tags) == ((shelf.id("puente.md"),), ("a", "b"))


async def test_of_two_who_decide_at_once_one_does(shelf: Shelf) -> None:
    """R10.1"""
    store, owner = shelf.services.proposals, shelf.collection.owner_id
    (proposal,) = await propose(shelf, await made(shelf))
    several = [store.accept(owner, proposal.id) for _ in range(3)]
    told = await asyncio.gather(*several, store.reject(owner, proposal.id), return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in told) == 1
    assert sum(isinstance(one, ProposalDecided) for one in told) == 3
    is_accepted = (await store.find(owner, proposal.id)).state is ProposalState.ACCEPTED
    assert len(await shelf.services.golden.list_all(shelf.collection)) == is_accepted


async def test_who_proposes_at_once_proposes_once(shelf: Shelf) -> None:
    """R10.1"""
    proposal = await made(shelf)
    new = await asyncio.gather(*(propose(shelf, proposal) for _ in range(4)))
    assert sum(map(len, new)) == len(await listed(shelf)) == 1


@pytest.mark.parametrize("state", ProposalState)
async def test_a_document_that_is_gone_takes_its_words_along(shelf: Shelf, state: ProposalState) -> None:
    """R1.8, security 19: what nobody decided of goes; of the rest nothing is left but that it is known."""
    store, owner = shelf.services.proposals, shelf.collection.owner_id
    stale = await made(shelf)
    (proposal, other) = await propose(shelf, stale, await made(shelf, PUENTE, "puente.md"))
    if state is ProposalState.ACCEPTED:
        await store.accept(owner, proposal.id)
    elif state is ProposalState.REJECTED:
        await store.reject(owner, proposal.id)
    await shelf.drop("horno.md")
    left = {each.id: each for each in await listed(shelf)}
    assert other.id in left
    assert (proposal.id in left) == (state is not ProposalState.PROPOSED)
    assert "horno H2" not in await rows(shelf)
    assert "retén" not in await rows(shelf)
    assert await propose(shelf, stale) == []  # of a document that is gone


async def test_a_new_content_takes_the_old_ones_proposals_along(shelf: Shelf) -> None:
    """R1.8, security 19: a document that is only read anew keeps them."""
    await propose(shelf, await made(shelf))
    await shelf.ingest(**{"horno.md": TEXTS["horno.md"]})
    assert len(await listed(shelf)) == 1
    await shelf.ingest(**{"horno.md": "# Parte\n\nEl horno H2 va bien.\n"})
    assert await listed(shelf) == []
    assert "retén" not in await rows(shelf)


async def test_a_document_whose_time_is_over_proposes_nothing(shelf: Shelf) -> None:
    """R1.8, security 19: from that moment on, before any job has deleted it."""
    store, owner = shelf.services.proposals, shelf.collection.owner_id
    proposal, rejected = await propose(shelf, await made(shelf), await made(shelf, "¿Qué retén se rompió?"))
    await store.reject(owner, rejected.id)
    late = await made(shelf, "¿Qué horno falló?")
    async with shelf.services.database.transaction(owner) as connection:
        await connection.execute("UPDATE documents SET expires_at = now() - interval '1 second'")
    with pytest.raises(ProposalNotFound):
        await store.find(owner, proposal.id)
    with pytest.raises(ProposalNotFound):
        await store.accept(owner, proposal.id)
    assert await propose(shelf, late) == []  # its time was over while it was read
    (left,) = await listed(shelf)
    assert (left.id, left.query, left.expected_answer, left.quote) == (rejected.id, "", "", "")


async def test_another_owner_sees_and_decides_nothing(shelf: Shelf) -> None:
    """R4.8, security 3: in the words of an id that nobody has; not even by a document or an answer of theirs."""
    store, stranger = shelf.services.proposals, f"{shelf.collection.owner_id}-x"
    (proposal,) = await propose(shelf, await made(shelf))
    for each in (proposal.id, uuid4()):
        for attempt in (store.find(stranger, each), store.accept(stranger, each), store.reject(stranger, each)):
            with pytest.raises(ProposalNotFound, match=f"There is no proposed golden case {each}"):
                await attempt
    theirs = replace(shelf.collection, owner_id=stranger)
    assert await store.list_all(theirs) == []
    with pytest.raises(CollectionNotFound):
        await store.add(theirs, [await made(shelf)])
    assert (await store.find(shelf.collection.owner_id, proposal.id)) == proposal


async def test_proposals_go_with_their_collection(shelf: Shelf) -> None:
    """R9.3"""
    (proposal,) = await propose(shelf, await made(shelf))
    await shelf.services.store.delete_collection(shelf.collection)
    with pytest.raises(ProposalNotFound):
        await shelf.services.proposals.find(shelf.collection.owner_id, proposal.id)


class Talk:
    """A conversation of the shelf's owner, and what is thought of it."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf, self.owner = shelf, shelf.collection.owner_id
        self.conversation_id = UUID(int=0)

    async def ask(self, question: str, *, cited: list[str], found: list[str]) -> UUID:
        """The answer."""
        store = self.shelf.services.conversations
        if self.conversation_id.int:
            turn = await store.ask(self.owner, self.conversation_id, question, title="")
        else:
            turn = await store.begin(self.owner, question, title="", collections=[self.shelf.collection.name])
            self.conversation_id = turn.conversation.id
        documents = {of.filename: of for of in await self.shelf.services.store.list_documents(self.shelf.collection)}
        sources = [
            {"document_id": str(documents[name].id), "content_hash": documents[name].content_hash} for name in found
        ]
        details = {"sources": sources, "citations": [{"document_id": str(documents[name].id)} for name in cited]}
        place = (uuid4(), turn.conversation.id, turn.question.id)
        answer = Message(*place, "assistant", "No lo sé.", MessageStatus.COMPLETE, datetime.now(UTC), details)
        await store.answer(self.owner, turn, answer)
        return answer.id

    async def rate(self, answer: UUID, rating: Any, citation: int = 0, comment: str = "") -> None:
        rated = self.shelf.services.feedback
        key = (self.owner, self.conversation_id, answer)
        await rated.rate(*key, citation=citation, rating=rating, comment=comment)


async def test_a_thumbs_down_proposes_its_question(shelf: Shelf) -> None:
    """R10.1 with what was said of the answer; what it cites are candidates, for a bad answer may cite what is wrong."""
    talk = Talk(shelf)
    answer = await talk.ask(HORNO, cited=["stock.md", "puente.md"], found=["horno.md", "stock.md", "puente.md"])
    await talk.rate(answer, -1, comment="Eso no es.")
    (proposal,) = await listed(shelf)
    assert (proposal.origin, proposal.query, proposal.category, proposal.difficulty) == (
        "feedback", HORNO, "causal", "hard",
    )  # fmt: skip
    assert (proposal.reason, proposal.message_id, proposal.expected_answer) == ("Eso no es.", answer, "")
    assert (proposal.relevant_document_ids, proposal.candidate_document_ids) == (
        (), tuple(map(shelf.id, ("stock.md", "puente.md", "horno.md"))),
    )  # fmt: skip
    await talk.rate(answer, -1, citation=1)
    await talk.rate(answer, 1, citation=2)
    (after,) = await listed(shelf)
    assert (after.id, after.relevant_document_ids) == (proposal.id, (shelf.id("puente.md"),))
    assert after.candidate_document_ids == (shelf.id("horno.md"),)
    await talk.rate(answer, -1, comment="Falta la causa.")
    assert [(each.id, each.reason) for each in await listed(shelf)] == [(proposal.id, "Falta la causa.")]


async def test_a_person_says_what_is_relevant(shelf: Shelf) -> None:
    """R10.1 without that, no case comes of a bad answer: it would say that the collection holds no answer."""
    talk = Talk(shelf)
    await talk.rate(await talk.ask(HORNO, cited=["stock.md"], found=["stock.md"]), -1)
    (proposal,) = await listed(shelf)
    store = shelf.services.proposals
    with pytest.raises(InvalidGoldenCase, match="relevant_document_ids"):
        await store.accept(talk.owner, proposal.id)
    await store.accept(talk.owner, proposal.id, CaseEdits(documents=[DocumentReference(filename="horno.md")]))
    (case,) = await shelf.services.golden.list_all(shelf.collection)
    assert case.relevant_document_ids == (shelf.id("horno.md"),)


async def test_a_follow_up_is_proposed_as_it_is_understood_alone(shelf: Shelf) -> None:
    """R10.1"""
    talk = Talk(shelf)
    await talk.ask("¿Cuándo se cerró el puente de Arenal?", cited=[], found=["puente.md"])
    await talk.rate(await talk.ask("¿y por qué?", cited=[], found=["puente.md"]), -1)
    (proposal,) = await listed(shelf)
    assert "puente de Arenal" in proposal.query
    assert proposal.category == "causal"


async def test_what_takes_the_thumb_back_withdraws_the_proposal(shelf: Shelf) -> None:
    """R10.1 unless a person has decided: that stays, and is not proposed again."""
    talk = Talk(shelf)
    answer = await talk.ask(HORNO, cited=[], found=["horno.md"])
    await talk.rate(answer, -1)
    await talk.rate(answer, 1)
    assert await listed(shelf) == []
    await talk.rate(answer, -1)
    await shelf.services.feedback.unrate(talk.owner, talk.conversation_id, answer)
    assert await listed(shelf) == []
    await talk.rate(answer, -1)
    (proposal,) = await listed(shelf)
    await shelf.services.proposals.reject(talk.owner, proposal.id)
    for rating in (1, -1):
        await talk.rate(answer, rating)
        assert [each.state for each in await listed(shelf)] == [ProposalState.REJECTED]


async def test_ratings_at_the_same_time_propose_as_they_come_to(shelf: Shelf) -> None:
    """R10.1 of an answer that is praised in the end nothing is left, whatever is said of its citations meanwhile."""
    talk = Talk(shelf)
    answer = await talk.ask(HORNO, cited=["stock.md", "puente.md"], found=["horno.md"])
    for _ in range(4):
        await talk.rate(answer, -1)
        of_citations = [talk.rate(answer, -1, citation=citation) for citation in (1, 2)]
        await asyncio.gather(*of_citations, talk.rate(answer, 1))
        assert await listed(shelf) == []


async def test_a_deleted_conversation_takes_its_proposals_along(shelf: Shelf) -> None:
    """R10.1, security 19: of what is decided the question's words go, too."""
    talk = Talk(shelf)
    first = await talk.ask(HORNO, cited=[], found=["horno.md"])
    second = await talk.ask(PUENTE, cited=[], found=["puente.md"])
    for answer in (first, second):
        await talk.rate(answer, -1, comment="Mal.")
    rejected, _ = await listed(shelf)
    await shelf.services.proposals.reject(talk.owner, rejected.id)
    await shelf.services.conversations.delete(talk.owner, talk.conversation_id)
    (left,) = await listed(shelf)
    assert (left.id, left.query, left.reason) == (rejected.id, "", "")
