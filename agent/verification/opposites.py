"""Words that say the opposite of each other, in three languages: rise and fall, before and after, accept and refuse."""

from collections.abc import Mapping
from functools import lru_cache

from graphrag.language import fold

# A word that ends in * stands for all that begin so. Left and right of | are opposites.
_PAIRS: Mapping[str, str] = {
    "rise": "subi* sube* suba* aument* increment* crec* creci* alza encarec* mejor* augment* haus* hauss* accru*"
        " croiss* cru progress*"
    " amelior* grimp* rose rise* rising increas* grew grow* climb* gain* improv* jump* soar* surg* up higher raise*"
    " | baj* descend* descen* disminu* reduc* caida* cayo caer caen cae decrec* abarat* empeor* recort* merm*"
    " baiss* diminu* diminut*"
    " redui* recul* chut* degrad* deterior* fell fall* decreas* declin* drop* lower* lessen* cut cuts shrank"
    " shrink* worsen* plung* down",
    "before": "antes previ* anterior* before earlier prior avant precede* anterieur*"
    " | despues tras posterior* posteriormente luego after later following apres ensuite suivant* subsequent*",
    "more": "mas mayor* superior* plus superieur* more greater over exceed* supera* depass* longer larger bigger"
        " taller above encima exced* | menos menor* inferior*"
    " moins inferieur* less fewer under below debajo shorter smaller au-dessous dessous",
    "most": "maxim* tope plafond ceiling most | minim* least",
    "buy": "compr* adquir* achet* rachet* acquer* acqui* bought buy* purchas* acquir* | vend* venta* vent ventes"
        " cede* sold sell* sale*",
    "lend": "presto prest* prete* lend* lent loan* | borrow* emprunt*",
    "open": "abre* abri abrio abrir abrira abriran abrieron abier* apert* ouvr* ouver* open* reopen* reabr* rouvr*"
        " | cerr* cier* clausur* ferme* clos* clotur*"
        " shut* close*",
    "win": "gano gana ganan ganaron ganar gagn* remport* won win wins winner | perd* perdi* pierd* lost lose* losing",
    "accept": "podra* pourr* acept* aprob* aprueb* autoriz* permit* acced* accept* approuv* approb* autoris*"
        " permet* permis*"
        " allow* approv*"
    " authori* agree* admit* admis* valid*"
    " | rechaz* deneg* prohib* deni* declin* impid* refus* rejet* interdi* ecart* reject* forb* deny prohibit* ban"
    " banned disallow*",
    "present": "presen* asist* acud* assist* attended attends attendance present* | ausen* absen* miss* falt* manqu*",
    "begin": "empez* empiez* comenz* comienz* inici* arranc* commenc* debut* demarr* begin* began start* launch* lanz*"
    " | termina* termine* termino acab* finaliz* conclu* finir* fini acheve* termine* end ended ends finish*",
    "early": "adelant* anticip* avanc* early tempran* tot ahead | retras* aplaz* atras* tarde tardi* retard*"
        " report* tard late delay* postpon* behind posterg*",
    "gain": "beneficio* ganancia* excedent* superavit* benefice* profit* surplus | perdida* deficit* perte* loss"
        " losses",
    "add": "anad* agreg* incorpor* ajout* add* | quit* retir* elimin* suprim* enlev* supprim* remov* delet* withdr*",
    "include": "inclu* comprend* compris* includ* | exclu* except* salvo sauf",
    "hot": "calient* caliente calor* chaud* hot hotter warm* calent* chauff* heat* | fri* froid* cold* cool* enfri*"
        " refroid* chill*",
    "enter": "entra* entro entrar entree* entrer enters entered ingres* arriv* lleg* importa importo importacion"
        " importation* | sale salen salio salieron salida salir saldra sort* parti"
        " partit partent partir exit* depart* export*",
    "in": "dentro inside within interior* interieur* | fuera outside exterior* exterieur* hors",
    "fast": "rapid* vite fast* quick* | lent* slow*",
    "cheap": "barat* abarat* econom* cheap* | caro caros cara caras cher* expensive encarec*",
    "long": "larg* long* prolong* alarg* allong* extend* ampli* | cort* court* short* acort* raccourc*",
    "hire": "contrat* embauch* recrut* hire* hiring recruit* | desped* licenci* fired dismiss* sack*",
    "mandatory": "oblig* mandatory compulsory required | opcional* voluntari* facultat* optional* volunt*",
    "free": "gratis gratuit* free | pago paga pagan pagar pagado pagada pagados payant* charged",
    "left": "izquierd* gauch* | derech* droit* right",
    "north": "norte norte* nord north* | sur sud south*",
    "east": "east* oriental* | oeste ouest west*",
    "first": "primer* premier* first | ultim* dernier* last",
    "morning": "manana* matin* morning* | tarde* apres-midi afternoon* evening* soir* noche* nuit* night*",
    "public": "public* | privad* prive* private*",
    "success": "exit* logr* consig* reuss* succeed* success* passed | fracas* echou* echec* fail* suspend*",
    "input": "entrada* entree* input* income ingreso* recette* revenue* | salida* sortie* output* gasto* depens*"
        " expense*",
    "credit": "acreedor* creanci* credit* | deudor* debit* debtor*",
    "teach": "ensen* forme* formo formar taught teach* train* | aprend* appren* learn*",
    "always": "siempre toujours always | nunca jamas jamais never",
    "full": "llen* plein* full | vaci* vide vides empty emptied",
    "strong": "fuerte* fort forts forte fortes strong* | debil* faible* weak*",
    "high": "alto alta altos altas elev* haut* eleve* high | bajo baja bajos bajas bas basse* low",
    "wet": "humed* humid* wet moist* mouill* | seco secos seca secas sec seche* dry*",
    "on": "encend* encienda enciend* activ* allum* | apag* desactiv* eteign* eteint*",
    "for": "favor | contra contre against",
}  # fmt: skip


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    whole: dict[str, tuple[str, int]] = {}
    begun: dict[str, tuple[str, int]] = {}
    for concept, written in _PAIRS.items():
        left, right = written.split(" | ")
        for words, sign in ((left, 1), (right, -1)):
            for word in words.split():
                (begun if word.endswith("*") else whole).setdefault(word.rstrip("*"), (concept, sign))
    return whole, begun


@lru_cache(maxsize=50_000)
def opposite_of(word: str) -> tuple[str, int] | None:
    """The pair that a word is of, and its side of it."""
    whole, begun = _lexicon()
    folded = fold(word)
    if folded in whole:
        return whole[folded]
    for length in range(len(folded), 2, -1):
        if len(folded) - length <= 7 and (found := begun.get(folded[:length])):
            return found
    return None
