"""Align the words and facts of a statement with those of a passage."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agent.verification.reading import ComparedText, ComparedWord
from graphrag.causal_graph.concepts import word_similarity
from graphrag.linguistics.dates import Moment
from graphrag.linguistics.lexicon import meanings, opposite_of, share_meaning
from graphrag.linguistics.names import same_name
from graphrag.linguistics.numbers import Quantity

NEARBY = 0.88  # what a word counts, a word further
LATER_CLAUSE, EARLIER_CLAUSE = 0.4, 0.8  # «… por Stott y los jardines por Crane»: what is left out stood before
OTHER_SENTENCE, RESUMED_SENTENCE = 0.17, 0.6  # a pronoun resumes the sentence before
ALIKE, ALIKE_ACROSS = 0.6, 0.5  # trigrams, in one language and in two
SAME_PAIR = 0.8
CLOSE = 0.7  # share of a statement's words that the passage must have, for the places of its facts to be compared
SHORTEST_ALIKE = 5  # letters
NAME_WEIGHT = 1.3


class Alignment:
    def __init__(self, statement: ComparedText, passage: ComparedText) -> None:
        self.statement, self.passage = statement, passage
        self.is_across = statement.language != passage.language

    @cached_property
    def links(self) -> dict[int, dict[int, float]]:
        """Place in the statement → places in the passage, with how surely they say the same."""
        held = [(place, word) for place, word in enumerate(self.passage.words) if word.says]
        found: dict[int, dict[int, float]] = {}
        for place, word in enumerate(self.statement.words):
            if word.says:
                alike = {other: score for other, each in held if (score := self._alike(word, each))}
                if alike:
                    found[place] = alike
        return found

    def _alike(self, one: ComparedWord, other: ComparedWord) -> float:
        least = ALIKE_ACROSS if self.is_across else ALIKE
        languages = self.statement.language, self.passage.language
        return words_alike((one.form, one.folded), (other.form, other.folded), languages, least)

    @cached_property
    def is_close(self) -> bool:
        """Return whether the statement is told in the passage's words: else what stands near what tells little."""
        told = sum(word.says for word in self.statement.words)
        return len(self.links) >= CLOSE * told

    @cached_property
    def sentence_shares(self) -> dict[int, float]:
        """Share of the statement that each sentence of the passage has."""
        shares: dict[int, float] = {}
        for linked in self.links.values():
            best: dict[int, float] = {}
            for place, score in linked.items():
                sentence = self.passage.words[place].sentence
                best[sentence] = max(best.get(sentence, 0.0), score)
            for sentence, score in best.items():
                shares[sentence] = shares.get(sentence, 0.0) + score
        total = sum(word.says for word in self.statement.words) or 1
        return {sentence: score / total for sentence, score in shares.items()}

    @cached_property
    def _single_clauses(self) -> dict[int, int]:
        """Places of the statement whose words one clause of the passage alone has, each with it."""
        found: dict[int, int] = {}
        for place, linked in self.links.items():
            clauses = {self.passage.words[to].clause for to, score in linked.items() if score >= SAME_PAIR}
            if len(clauses) == 1:
                (found[place],) = clauses
        return found

    def votes_of(self, clause: int) -> int:
        """The words of the statement that no other clause has."""
        return sum(each == clause for each in self._single_clauses.values())

    def is_outvoted(
        self,
        same: Iterable[int],
        others: Iterable[int],
        *,
        told: Collection[int],
        known: Iterable[int] = (),
        reaching: bool = True,
        clearly: bool = False,
    ) -> bool:
        """Return whether the statement shares as much, or more, with one of the others as with one of the same.

        Places of one kind in the passage, `known` all of them; `told`: the statement's own places of that kind, which
        do not vote. `reaching`: the clauses beside belong to them, too. `clearly`: as much is not enough.
        """
        if not clearly and not self.is_close:
            return False
        own = {self.passage.words[place].clause for place in same}
        other = {self.passage.words[place].clause for place in others} - own
        owners = own | other | {self.passage.words[place].clause for place in known}
        sentences = {self._sentence_of[each] for each in own}
        mine, theirs = 0, dict.fromkeys(other, 0)
        for place, clause in self._single_clauses.items():
            owner = self._owner(clause, owners) if reaching else clause
            if place in told or (clearly and self._sentence_of[clause] not in sentences):
                continue
            if owner in own:
                mine += 1
            elif owner in theirs:
                theirs[owner] += 1
        most = max(theirs.values(), default=0)
        if clearly:
            return most > mine
        if most >= max(1, mine):
            return True
        covered = max((self._covered(clause) for clause in own), default=0.0)
        return any(votes and covered < 1 == self._covered(clause) for clause, votes in theirs.items())

    def is_mixed(self, same: Collection[int], others: Collection[int]) -> bool:
        """Return whether the statement joins the fact of one clause with what another clause of its sentence says.

        That other clause has a fact of its own (`others`), of which the statement is silent, and so it is of something
        that the fact's own clause says.
        """
        if not self.is_close:
            return False
        own = {self.passage.words[place].clause for place in same}
        if len(own) != 1:
            return False
        (clause,) = own
        left_out = any(word.clause == clause and word.says and at not in self.met for at, word in self._words_but(same))
        if not left_out:
            return False
        beside = {self.passage.words[place].clause for place in others} - own
        sentence = self._sentence_of[clause]
        return any(self.votes_of(each) for each in beside if self._sentence_of[each] == sentence)

    def _words_but(self, without: Collection[int]) -> Iterator[tuple[int, ComparedWord]]:
        return ((at, word) for at, word in enumerate(self.passage.words) if at not in without)

    @cached_property
    def met(self) -> frozenset[int]:
        """Places of the passage that the statement has."""
        return frozenset(to for places in self.links.values() for to in places)

    def _covered(self, clause: int) -> float:
        """The share of a clause's words, but names and numbers, that the statement has: «et 52 € le week-end»."""
        counted = [(quantity.start, quantity.end) for quantity in self.passage.quantities]
        own = [
            place
            for place, word in enumerate(self.passage.words)
            if word.clause == clause
            and word.says
            and place not in self.passage.names
            and not any(start <= word.start < end for start, end in counted)
        ]
        return sum(place in self.met for place in own) / len(own) if own else 0.0

    def _owner(self, clause: int, known: Collection[int]) -> int | None:
        """The clause itself, or the one before or after it in its sentence that has something of the kind."""
        if clause in known:
            return clause
        if self.passage.is_table:
            return None
        sentence = self._sentence_of[clause]
        beside = [each for each in known if self._sentence_of.get(each) == sentence]
        before, after = [each for each in beside if each < clause], [each for each in beside if each > clause]
        if before or after:
            return max(before) if before else min(after)
        earlier = [each for each in known if self._sentence_of.get(each) == sentence - 1]
        return max(earlier) if earlier and sentence in self.passage.resuming else None

    @cached_property
    def _sentence_of(self) -> dict[int, int]:
        return {word.clause: word.sentence for word in self.passage.words}

    def nearness(self, at: int, other: int, *, without: Iterable[int] = ()) -> float:
        """Return how much stands around a place of the statement and around one of the passage alike."""
        left_out = {at, *without}
        total = 0.0
        for place, linked in self.links.items():
            if place in left_out:
                continue
            nearest = max(
                (score * _held(self.passage, other, to) for to, score in linked.items() if to != other), default=0.0
            )
            weight = NAME_WEIGHT if place in self.statement.names else 1.0
            total += weight * _told(self.statement.words, at, place) * nearest
        return total


def _told(words: Sequence[ComparedWord], one: int, other: int) -> float:
    """Return how near two words of a statement are; its commas separate little."""
    return float(NEARBY ** abs(one - other))


def _held(reading: ComparedText, one: int, other: int) -> float:
    first, second = reading.words[one], reading.words[other]
    apart = abs(first.sentence - second.sentence)
    if apart:
        is_resumed = apart == 1 and second.sentence < first.sentence and first.sentence in reading.resuming
        return RESUMED_SENTENCE if is_resumed else float(OTHER_SENTENCE * 0.5 ** (apart - 1))
    clauses = second.clause - first.clause
    factor = LATER_CLAUSE ** min(2, clauses) if clauses > 0 else EARLIER_CLAUSE ** min(3, -clauses)
    return float(NEARBY ** abs(one - other)) * float(factor)


@lru_cache(maxsize=100_000)
def words_alike(one: tuple[str, str], other: tuple[str, str], languages: tuple[str, str], least: float) -> float:
    """Return how surely two words, each with its stem and folded, mean the same."""
    (form, folded), (other_form, other_folded) = one, other
    if form == other_form or folded == other_folded:
        return 1.0
    if any(map(str.isdigit, folded + other_folded)):
        return 0.0
    if same_name(folded, other_folded):
        return 1.0
    pair, other_pair = opposite_of(folded), opposite_of(other_folded)
    if pair and other_pair and pair[0] == other_pair[0]:
        return SAME_PAIR
    if share_meaning(meanings(folded, languages[0]), meanings(other_folded, languages[1])):
        return SAME_PAIR
    if min(len(folded), len(other_folded)) < SHORTEST_ALIKE:
        return 0.0
    alike = word_similarity(folded, other_folded)
    return alike if alike >= least else 0.0


MARGIN = 1.1  # how much more must stand around the other one
LEAST = 0.12
MARGIN_ACROSS, LEAST_ACROSS = 1.3, 0.35  # fewer words meet in two languages


@dataclass(frozen=True, slots=True)
class Fact:
    """A number or a date of the statement, and where the passage has it and others of its kind."""

    place: int
    same: tuple[int, ...]
    others: tuple[int, ...]
    claimed: Mapping[int, Sequence[int]]  # those of the others that the statement has, too: its places of them


def is_elsewhere(both: Alignment, fact: Fact) -> bool:
    """Return whether more stands around another of its kind than around the same one."""
    least, margin = (LEAST_ACROSS, MARGIN_ACROSS) if both.is_across else (LEAST, MARGIN)
    best = max((both.nearness(fact.place, place) for place in fact.same), default=0.0)
    for place in fact.others:
        nearness = both.nearness(fact.place, place)
        if nearness > least and nearness > margin * best and not _is_taken(both, fact, place, nearness, best):
            return True
    return False


def _is_taken(both: Alignment, fact: Fact, place: int, nearness: float, best: float) -> bool:
    """Return whether the other belongs to another of the statement: changed round, the two would fit no better."""
    for rival in fact.claimed.get(place, ()):
        turned = max((both.nearness(rival, each) for each in fact.same), default=0.0)
        if both.nearness(rival, place) + best >= nearness + turned:
            return True
        if both.nearness(rival, place) >= nearness:
            return True
    return False


def starts(reading: ComparedText, facts: Iterable[Quantity | Moment]) -> tuple[int, ...]:
    return tuple(reading.place(fact.start) for fact in facts)
