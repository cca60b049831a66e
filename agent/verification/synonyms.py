"""Words that mean the same, in one language and across three: what letters alone do not show."""

from functools import lru_cache

from graphrag.language import fold

# One meaning a line. A word that ends in * stands for all that begin so, as long as they are not much longer.
_MEANINGS = """
acuerd* accord* agree* pact* convenio* deal*
agua* eau eaux water*
ahorr* epargn* economis* saving* savings
alquil* arrend* arriend* louer loue* locat* loyer* bail* rent* leas* tenan* inquilin*
almacen* entrepot* warehouse* nave naves hangar*
alumn* eleve eleves estudiant* etudiant* student* pupil*
ano anos an ans annee* year*
anunci* annonc* announc* comunic* inform* report* signal* avis* notif*
apoy* soutien* soutenir appui* support* respald* back*
asegur* assur* insur*
ayuntamient* municip* mairie* council* town* commune*
ayud* aid* help* assist*
banc* banque* bank*
barc* bateau* navire* buque* ship* boat* vessel*
bolet* billet* ticket* entrada*
caja* caisse* box* crate* carton*
cambi* chang* modif* alter*
camion* truck* lorr* poids
cantidad* quantit* amount* import* montant* suma* somme* total*
carret* route* road* voie*
carta cartas lettre* letter*
casa casas maison* house* home* viviend* logement* dwelling*
cita citas rendez* appointment*
ciudad* ville* city cities town* villa*
client* customer* acheteur* buyer*
coch* voiture* car cars vehicul* vehicle* auto autos
cocin* cuisin* kitchen*
comid* repas meal* food* aliment* nourrit*
comit* commission* committee* comision*
compani* compagn* empresa* entrepris* societ* sociedad* firm firms firma company business*
conduct* chofer* chauffeur* driver*
consej* conseil* board*
conserv* gard* kept keep* mantien* manten* mainten* maintain* maint* stor* guard*
construi* construy* constru* batir bati* built build* edific* erig*
contabl* contabil* cuenta cuentas compte comptes comptab* account*
contien* conten* contient* contain* hold holds
contrat* contract*
corre* courriel* mail* email* e-mail*
cosech* recolt* harvest* vendim*
costo coste costos costes costar costa* cost costs cout* cuest* price* prix precio* precios tarif* fee fees fare
cree* fond* found* crea* creat* establish* etabl*
dano* dommag* damag* endommag* degat*
decid* decis*
deuda* dett* debt*
devol* devuel* rend* return* retour* reembols* rembours* refund* reimburs*
dia dias jour* day* journee*
dinero argent money fondos fonds fund* cash
dirig* direct* manag* gest* admin* encarg* respons*
disen* concev* concu* design* dessin* project* proyect*
dorm* sleep* sommeil* sueno*
edifici* batiment* building* immeuble*
elegid* eligi* elu elus elue elect* chosen choos* chois* chose escog* select* retenu*
emple* employ* trabajador* travailleur* ouvrier* worker* staff personal personnel operari* plantill* effectif* salari*
encuentr* encontr* trouv* found find* hall*
enferm* malad* ill illness* sick* diseas*
enseign* profes* teach* maestr* maitress*
entreg* livr* deliver* suminist* suppl* fourni*
envi* expedi* send* sent ship*
equip* equipe* team* equipment*
escrib* escrit* ecri* redig* redact* writ* wrot* draft* borrador* brouillon*
escuel* ecole* school* colegi*
espos* mari femme wife husband* mujer* epou* viud* veuv* widow*
estacion* gare* station*
estudi* etud* stud* research* investig*
examen* exam* test* essai* ensay* prueb* epreuv* trial*
fabric* usine* factory* plant*
famili* famill* foyer* household* hogar*
fech* date* dates
feu incendi* fuego* fire*
firm* sign*
fuga fugas fuit* leak*
ganad* elevag* livestock* betail*
garant* warrant* guarant*
gel gel* helad* frost* freez* congel* gelee*
herman* frere* soeur* brother* sister*
hij* fils fille* son sons daughter* enfant* nin* child* kids
hoj* feuill* sheet* leaf
hora* heure* hour*
huev* oeuf* egg*
huesp* hote* guest*
impuest* impot* tax* taxe*
instal* pose poses posee fit fitted coloc*
invern* invierno hiver* winter*
invit* host* recib* recu* recev* receiv* reception* recepc* arriv* got
jefe* chef* chief* head* boss* dirig*
jubil* retrait* retir*
jug* jou* play*
jui* juicio* proces* tribunal* court* suit* sue* demand* lawsuit* poursui*
lech* lait* milk*
libr* livre* book*
limp* nettoy* clean*
llam* appel* call* phone* telef* teleph*
lluv* pluie* rain*
madera* bois wood* timber*
maquin* machin*
manana matin* morning*
medic* medec* doctor* docteur* physician*
mejor* better best mieux meill*
mes meses mois month* mensual* mensuel* monthly
miel honey
motor* moteur* engine*
muest* echantill* sample*
muert* mort* muri* mour* die died death* deced* dead fallec*
nad* nag* swim*
negoci* negoc* negot*
nombr* nomm* nam* appoint*
novel* nouv* nuev* new*
obra* travaux chantier*
ofert* offre* offer* bid* devis* presupuest* quote* budget* tender*
ofic* bureau* office* despach*
pago* paga* pague* paie* paye* paya* pay* paid abon* vers* liquid* settle* regl*
palet* pallet* pale
pan panes pain* bread*
papel* papier* paper*
pieza* piece* part parts component*
pasaj* passag* passenger* viaj* voyag* travel* trip* journey*
peor* pire* worse*
perr* chien* dog*
person* gens people
peso pesa* poids weigh*
pesc* pech* fish*
piedr* pierre* stone*
pint* peint* paint*
piso* appartement* flat* apartment* logement*
pist* piste* track*
plaz* delai* deadline* term terms echeanc* vencim*
pozo pozos puits well wells
preside* chair* dirig*
prestam* pret* loan* credit* emprunt*
primaver* printemps spring*
produc* produi* manufactur* elabor* make made fait*
propietari* propriet* owner* landlord* bailleur* duen* casero*
proveed* fourniss* supplier* vendor*
provoc* caus* entrain* trigger* origin* produj* led lead leads motiv* du debid*
puent* pont* bridge* passerell* pasarel* footbridge*
puerto* port ports harbour* harbor*
puerta* porte* door* gate*
quej* reclam* plaint* complain* complaint* claim*
rechaz* refus* reject*
recomiend* recomend* recommand* recommend* aconsej* conseill* advis*
regal* cadeau* gift* donat* don dons
repar* arregl* repair* fix* refect*
reuni* reunion* meet* met seance* sesion* session*
rio rios riviere* fleuve* river*
riad* inund* inond* crue* flood*
ropa vetement* cloth*
sala salas salle* room* habitac* chambr*
salu* sante* health*
seguid* suiv* follow* sigu*
seman* semaine* week*
sitio* lieu lieux lugar* site sites
solicit* demand* request* ask* pedi* pide* requ* candidat*
sustit* remplac* replac* substit* reemplaz*
techo* toit* roof* tejad* cubiert*
tiend* magasin* shop* store* boutique*
tierra* terre* land* soil* terren* terrain* parcel*
tinto* rouge* red rojo*
tiemp* temps time*
tormenta* orage* tempet* storm* temporal*
trabaj* travail* work* job*
traduc* tradui* translat*
traslad* transfer* demenag* move* moving
tren trenes train trains
tuber* tuyau* pipe* canalis*
utiliz* utilis* usar usa usan uso used use uses using emple* aplic* appliq* apply appli* applied
vaca vacas vache* cow cows
vacanc* holiday* conge* vacacion*
vacun* vaccin*
vecin* voisin* neighbour* neighbor*
veran* ete estiv* summer*
verd* vert* green*
ventan* fenetr* window* vitre*
vidri* verre* glass* crist* vitr*
vigil* surveill* monitor* watch*
vino* vin vins wine*
zapat* chaussure* shoe*
plata argent* silver*
compr* achat* purchas* acquisition* adquisic* acqui*
dimi* demission* resign*
desarroll* develop*
empez* commenc* start* began begin* inici* debut*
""".strip()
_MOST_LONGER = 5  # letters
_SHORTEST = 3


@lru_cache(maxsize=1)
def _lexicon() -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    whole: dict[str, set[int]] = {}
    begun: dict[str, set[int]] = {}
    for number, line in enumerate(_MEANINGS.splitlines()):
        for word in line.split():
            (begun if word.endswith("*") else whole).setdefault(fold(word.rstrip("*")), set()).add(number)
    return whole, begun


@lru_cache(maxsize=50_000)
def meanings(word: str) -> frozenset[int]:
    """Of the longest entry that a folded word begins with."""
    whole, begun = _lexicon()
    found = set(whole.get(word, ()))
    for length in range(len(word), _SHORTEST - 1, -1):
        if len(word) - length <= _MOST_LONGER and word[:length] in begun:
            return frozenset(found | begun[word[:length]])
    return frozenset(found)
