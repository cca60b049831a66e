"""The language of a table's headers: its cells, names and numbers, tell none."""

import re
from collections import Counter
from collections.abc import Sequence

from graphrag.language import fold
from graphrag.models import Table

FEWEST_WORDS = 2
# Folded words that head columns in one of our languages and not in the others.
_WORDS = {
    "es": frozenset(
        "fecha mes ano dia semana enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
        " diciembre trimestre ventas importe cantidad unidades precio coste costo gasto gastos ingresos proveedor"
        " cliente producto pedido pedidos factura entrega prevista estado nombre apellido direccion ciudad pais"
        " descripcion codigo numero referencia tarea responsable observaciones categoria tienda empleado mercancia"
        " vencimiento horas saldo cajas".split()
    ),
    "fr": frozenset(
        "mois annee jour semaine janvier fevrier mars avril mai juin juillet aout septembre octobre novembre"
        " decembre trimestre ventes montant quantite unites prix cout depense depenses recettes fournisseur client"
        " produit commande commandes facture livraison prevue etat statut nom prenom adresse ville pays numero tache"
        " responsable remarques categorie magasin employe marchandise echeance heures solde cartons palettes".split()
    ),
    "en": frozenset(
        "month year day week january february march april june july august september october november december"
        " quarter sales amount quantity units price cost costs expense expenses income revenue supplier customer"
        " product order orders invoice delivery due status name surname address city country number reference task"
        " owner remarks category store shop employee goods hours balance boxes".split()
    ),
}
_LETTERS = re.compile(r"[a-z]+")


def header_language(tables: Sequence[Table]) -> str | None:
    """That of most headers, if it is one and two words say so."""
    found = {word for table in tables for header in table.headers for word in _LETTERS.findall(fold(header))}
    votes = Counter({language: len(found & known) for language, known in _WORDS.items()})
    (best, most), (_, second), _ = votes.most_common()
    return best if most >= FEWEST_WORDS and most > second else None
