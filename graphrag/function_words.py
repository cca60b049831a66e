"""The words that hold a sentence together and say nothing of its subject: closed classes, written out by language.

Published lists of stop words go further (one of English holds "fire", "order" and "stop"), which makes questions mute.
"""

FUNCTION_WORDS = {
    "es": """
        el la los las lo un una unos unas al del
        yo tú usted él ella ello nosotros nosotras vosotros ustedes ellos ellas me te se nos os le les mí ti sí
        mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras mío mía suyo suya suyos suyas
        este esta esto estos estas ese esa eso esos esas aquel aquella aquello aquellos aquellas
        a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
        y e o u ni que si pero mas sino aunque porque pues como cuando donde mientras
        no ya muy más menos tan tanto también tampoco aún todavía solo sólo así aquí ahí allí ahora entonces luego
        todo toda todos todas otro otra otros otras algún alguno alguna algunos algunas ningún ninguno ninguna nada nadie algo
        alguien mismo misma mismos mismas cada cual cuyo cuya quien quienes
        ser es son era eran fue fueron sea sean sido siendo será serán sería soy somos
        estar está están estaba estaban estuvo estado estamos
        haber ha han había habían hubo he hemos hay haya hayan habrá
        tener tiene tienen tenía tenían tuvo tuvieron tenemos tengo
        hacer hace hacen hizo hacía puede pueden podía pudo puedo debe deben debía
    """,
    "fr": """
        le la les l un une des du de d au aux
        je j tu il elle on nous vous ils elles me m te t se s lui leur y en moi toi soi eux ça ce c cela ceci
        mon ma mes ton ta tes son sa ses notre nos votre vos leurs
        cet cette ces celui celle ceux celles ci là
        à avant après avec chez contre dans depuis derrière dès devant durant entre envers hors jusque jusqu malgré par parmi
        pendant pour sans sauf selon sous sur vers
        et ou ni mais or donc car que qu si comme lorsque lorsqu quand puisque puisqu quoique tandis afin ainsi
        ne n pas plus moins autant non oui très trop peu si aussi encore déjà toujours jamais alors puis ici tout tous toute toutes
        autre autres même mêmes quelque quelques chaque aucun aucune rien personne plusieurs tel telle tels telles
        être est sont était étaient fut furent soit soient été étant sera seront serait suis es sommes êtes
        avoir a ont avait avaient eut eu ayant aura auront aurait ai as avons avez ait aient
        fait faire font faisait faut peut peuvent pouvait doit doivent devait va vont aller
    """,
    "en": """
        the a an this that these those
        i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself yourself
        himself herself itself ourselves themselves
        of in on at by for with about against between into through during before after above below to from up down out off
        over under within without upon
        and or nor but if because as until while than so though although whether
        not no only very too also just then there here now again once ever never still yet
        all any both each few more most other others another some such same own
        be is am are was were been being do does did doing done have has had having
        can could shall should will would may might must ll ve re s t d don doesn didn isn aren wasn weren hasn haven hadn
        won wouldn can couldn shouldn get got
    """,
}  # fmt: skip

# A question's own words: they ask, they do not describe.
QUESTION_WORDS = {
    "es": "qué cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo quién quiénes porqué razón motivo causa llevó pasó ocurrió",
    "fr": "quel quelle quels quelles qui quoi quand combien où comment pourquoi lequel laquelle lesquels raison poussé passé produit",
    "en": "what which when where who whom whose why how many much come reason cause happen happened",
}
