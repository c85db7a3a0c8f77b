//! Vocabularies of the languages of western and central Europe.
//!
//! The marks in patterns are those of `english.rs`: `{t}` and `{u}` topics, `{n}` a surname,
//! `{p}` a place, `{y}` and `{z}` years.

use super::Source;

pub(super) const GERMAN: Source = Source {
    code: "ger",
    script: "",
    native: "Deutsch",
    given: "Hans,Karl,Friedrich,Johann,Wilhelm,Heinrich,Ernst,Walter,Otto,Anna,Maria,Ursula,\
Ingrid,Jürgen,Günther,Klaus,Dieter,Helmut,Käthe,Gisela,Rüdiger,Elisabeth,Sabine,Wolfgang,Gerhard",
    surname: "Müller,Schmidt,Schneider,Fischer,Weber,Meyer,Wagner,Becker,Schulz,Hoffmann,Schäfer,\
Koch,Bauer,Richter,Klein,Wolf,Schröder,Neumann,Schwarz,Zimmermann,Braun,Krüger,Hofmann,Hartmann,\
Lange,Schmitt,Werner,Krause,Lehmann,Köhler,Maier,König,Walter,Huber,Kaiser,Fuchs,Vogel,Jäger,Roth",
    place: "Berlin=gw ,München=gw ,Leipzig=gw ,Stuttgart=gw ,Frankfurt am Main=gw ,Wien=au ,\
Zürich=sz ,Köln=gw ,Göttingen=gw ,Tübingen=gw ,Hamburg=gw ,Heidelberg=gw ,Basel=sz ,Bonn=gw ",
    publisher: "{n} Verlag
{n}
{n} & {m}
Verlag für {t}
{p}er Universitätsverlag
VEB {n}
Wissenschaftliche Buchgesellschaft {p}",
    topic: "Geschichte,Philosophie,Dichtung,Wirtschaft,Musik,Malerei,Recht,Theologie,Sprache,\
Erziehung,Gesellschaft,Politik,Technik,Naturwissenschaft,Psychologie,Baukunst,Volkskunde,\
Literatur,Kirche,Staat,Freiheit,Arbeit,Handel,Verwaltung,Städtebau,Landwirtschaft,Öffentlichkeit,\
Kunst,Medizin,Bildung,Aufklärung,Romantik,Gegenwart,Mittelalter,Überlieferung,Handschriften",
    title: "Die {t} und die {u}
Beiträge zur {t}
Grundzüge der {t}
Untersuchungen über {t} und {u}
Zur {t} der {u}
{t} in {p}
Einführung in die {t}
{n} und seine Zeit
Gesammelte Schriften
Handbuch der {t}
{p}, {y}-{z}
Geschichte der {t} in {p}
Das Problem der {t}
{t} zwischen {u} und Wirklichkeit",
    subtitle: "eine Einführung
ein Beitrag zur {t}
Festschrift für {n}
Roman
Studien zur {t} und {u}
von {y} bis {z}
Vorträge und Aufsätze
unter besonderer Berücksichtigung der {t}",
    by: "{r}
von {r}
herausgegeben von {r}",
};

pub(super) const FRENCH: Source = Source {
    code: "fre",
    script: "",
    native: "français",
    given: "Jean,Pierre,Marie,Jacques,André,François,Louis,Henri,René,Michel,Claude,Hélène,\
Françoise,Émile,Gérard,Étienne,Geneviève,Paul,Jeanne,Philippe,Agnès,Raoul,Benoît,Thérèse,Cécile",
    surname: "Martin,Bernard,Dubois,Thomas,Robert,Richard,Petit,Durand,Leroy,Moreau,Simon,\
Laurent,Lefèvre,Michel,Garcia,David,Bertrand,Roux,Vincent,Fournier,Morel,Girard,André,Lefebvre,\
Mercier,Dupont,Lambert,Bonnet,François,Martinez,Legrand,Garnier,Faure,Rousseau,Blanc,Guérin",
    place: "Paris=fr ,Lyon=fr ,Bruxelles=be ,Genève=sz ,Montréal=quc,Québec=quc,Toulouse=fr ,\
Grenoble=fr ,Strasbourg=fr ,Lausanne=sz ,Rennes=fr ,Neuchâtel=sz ",
    publisher: "Éditions {n}
Presses universitaires de {p}
Librairie {n}
{n}
Imprimerie nationale
{n} et {m}
Éditions de {p}
Société d'édition \"{n}\"",
    topic: "histoire,philosophie,poésie,économie,musique,peinture,théologie,éducation,société,\
politique,critique,littérature,pensée,géographie,science,médecine,mémoire,liberté,religion,\
révolution,démocratie,linguistique,architecture,esthétique,sociologie,civilisation,écriture,\
traduction,psychologie,colonisation,cité,nature,forêt,mer,identité,conscience,vérité,création",
    title: "La {t} et la {u}
Histoire de la {t}
Essai sur la {t}
Introduction à la {t} française
{n}, sa vie et son œuvre
La {t} à {p} ({y}-{z})
Études de {t}
De la {t} à la {u}
Les origines de la {t}
Œuvres complètes
Pour une nouvelle {t}
La {t} au siècle de {n}
L'héritage de {n}",
    subtitle: "essai de {t}
roman
textes réunis par {n}
{t} et {u}
actes du colloque de {p}, {y}
de {y} à {z}
étude critique
poèmes",
    by: "{r}
par {r}
sous la direction de {r}",
};

pub(super) const SPANISH: Source = Source {
    code: "spa",
    script: "",
    native: "español",
    given: "José,María,Juan,Antonio,Luis,Manuel,Carlos,Francisco,Ramón,Jesús,Ana,Rosa,Andrés,\
Ángel,Rafael,Concepción,Mercedes,Fernando,Joaquín,Pedro,Tomás,Inés,Óscar,Lucía,Sebastián",
    surname: "García,Rodríguez,González,Fernández,López,Martínez,Sánchez,Pérez,Gómez,Martín,\
Jiménez,Ruiz,Hernández,Díaz,Moreno,Álvarez,Muñoz,Romero,Alonso,Gutiérrez,Navarro,Torres,\
Domínguez,Vázquez,Ramos,Gil,Ramírez,Serrano,Blanco,Suárez,Molina,Ortega,Delgado,Castro,Ibáñez",
    place: "Madrid=sp ,Barcelona=sp ,México=mx ,Buenos Aires=ag ,Santiago de Chile=cl ,Lima=pe ,\
Bogotá=ck ,Caracas=ve ,La Habana=cu ,Sevilla=sp ,Quito=ec ,Montevideo=uy ",
    publisher: "Editorial {n}
Ediciones {n}
Universidad Nacional de {p}
Fondo de Cultura de {p}
{n} Editores
Instituto de Estudios de {t}
Librería {n}",
    topic: "historia,poesía,economía,literatura,música,pintura,política,educación,sociedad,\
filosofía,cultura,lengua,revolución,religión,geografía,ciencia,arquitectura,crítica,memoria,\
identidad,novela,antropología,justicia,libertad,conquista,independencia,población,minería,\
migración,democracia,narración,tradición,ciudad,tierra,muerte,pasión,razón,nación",
    title: "La {t} y la {u}
Historia de la {t} en {p}
{t} y {u} en {p}, {y}-{z}
Ensayos sobre {t}
Introducción a la {t}
Antología de la {t}
Vida y obra de {n}
El pensamiento de {n}
Obras completas
La {t} de la {u}
Hacia una {t} de la {u}
{p} : {t} y {u}",
    subtitle: "ensayo
novela
un estudio de {t}
homenaje a {n}
siglos XVIII y XIX
{y}-{z}
antología crítica
{t}, {u} y memoria",
    by: "{r}
por {r}
compilación y prólogo de {r}",
};

pub(super) const ITALIAN: Source = Source {
    code: "ita",
    script: "",
    native: "italiano",
    given: "Giovanni,Giuseppe,Maria,Antonio,Carlo,Paolo,Luigi,Anna,Franco,Giorgio,Niccolò,\
Alessandro,Mario,Lucia,Pietro,Enzo,Silvia,Umberto,Elena,Cesare",
    surname: "Rossi,Russo,Ferrari,Esposito,Bianchi,Romano,Colombo,Ricci,Marino,Greco,Bruno,\
Gallo,Conti,De Luca,Costa,Giordano,Mancini,Rizzo,Lombardi,Moretti,Barbieri,Fontana,Santoro",
    place: "Roma=it ,Milano=it ,Firenze=it ,Torino=it ,Bologna=it ,Napoli=it ,Venezia=it ,Padova=it ",
    publisher: "Edizioni {n}
{n} editore
Libreria {n}
Casa editrice {n}
Il {n}
Università di {p}",
    topic: "storia,poesia,letteratura,musica,pittura,politica,filosofia,società,cultura,lingua,\
arte,teologia,scienza,architettura,critica,economia,libertà,città,natura,memoria,ragione,\
rivoluzione,verità,civiltà,scultura,tradizione,modernità,storiografia",
    title: "La {t} e la {u}
Storia della {t} italiana
Saggi di {t}
{n} e la {t}
La {t} a {p} tra {y} e {z}
Introduzione alla {t}
Studi sulla {t} e la {u}
Le origini della {t}
Opere di {n}",
    subtitle: "saggio critico
romanzo
studi in onore di {n}
{y}-{z}
catalogo della mostra, {p}, {y}
atti del convegno di {p}
{t} e {u}",
    by: "{r}
di {r}
a cura di {r}",
};

pub(super) const POLISH: Source = Source {
    code: "pol",
    script: "",
    native: "polski",
    given: "Jan,Maria,Stanisław,Józef,Anna,Andrzej,Kazimierz,Zofia,Tadeusz,Barbara,Krzysztof,\
Władysław,Małgorzata,Jerzy,Elżbieta",
    surname: "Nowak,Kowalski,Wiśniewski,Wójcik,Kowalczyk,Kamiński,Lewandowski,Zieliński,\
Szymański,Woźniak,Dąbrowski,Kozłowski,Jankowski,Mazur,Krawczyk,Piotrowski,Grabowski,Pawłowski",
    place: "Warszawa=pl ,Kraków=pl ,Wrocław=pl ,Poznań=pl ,Łódź=pl ,Gdańsk=pl ,Lublin=pl ",
    publisher: "Wydawnictwo {n}
Ossolineum {p}
Państwowe Wydawnictwo {p}
Książka i {t}
{n}",
    topic: "historia,literatura,poezja,sztuka,muzyka,nauka,filozofia,gospodarka,kultura,\
społeczeństwo,polityka,szkoła,wieś,prawo,religia,język,wojna,pamięć,wolność,tożsamość",
    title: "Historia i {t}
{t} i {u} w {y}-{z}
Studia z dziejów: {t}
Z zagadnień: {t}, {u}
{n} : życie i twórczość
Dzieła wybrane
Słownik: {t}
{p} dawniej i dziś",
    subtitle: "powieść
szkice i studia
wybór źródeł
{y}-{z}
praca zbiorowa
{t} a {u}",
    by: "{r}
pod redakcją {r}
opracował {r}",
};

pub(super) const LATIN: Source = Source {
    code: "lat",
    script: "",
    native: "Latina",
    given: "Marcus,Lucius,Publius,Gaius,Ioannes,Petrus,Thomas,Guilelmus,Iacobus,Nicolaus",
    surname: "Tullianus,Aurelianus,Fabricius,Sabinus,Crispinus,Valerianus,Montanus,Silvanus,\
Agricola,Faber,Piscator,Textor,Avianus,Florentinus",
    place: "Lipsiae=gw ,Romae=it ,Parisiis=fr ,Lugduni=fr ,Venetiis=it ,Oxonii=enk,Basileae=sz ",
    publisher: "apud {n}
in aedibus {n}
sumptibus {n}
typis {n}",
    topic: "historiae,epistulae,orationes,carmina,sermones,quaestiones,annales,commentarii,\
disputationes,epigrammata,institutiones,elementa,observationes",
    title: "{t} et {u}
{t} selectae
Opera omnia
{t} ad {n}
De vita {n}
Corpus {t}",
    subtitle: "libri tres
accedunt {t}
cum notis variorum
recensuit {n}
editio altera",
    by: "{r}
recensuit {r}
edidit {r}",
};

pub(super) const DUTCH: Source = Source {
    code: "dut",
    script: "",
    native: "Nederlands",
    given: "Jan,Pieter,Willem,Hendrik,Cornelis,Johanna,Anna,Gerrit,Dirk,Maria,Jacoba,Joost",
    surname: "de Jong,Jansen,de Vries,van den Berg,Bakker,van Dijk,Visser,Smit,Meijer,de Boer,\
Mulder,de Groot,Bos,Vos,Peters,Hendriks,van Leeuwen,Dekker,Brouwer,de Wit",
    place: "Amsterdam=ne ,Den Haag=ne ,Utrecht=ne ,Leiden=ne ,Antwerpen=be ,Groningen=ne ",
    publisher: "Uitgeverij {n}
{n}
{n} & Zonen
Universitaire Pers {p}",
    topic: "geschiedenis,letterkunde,schilderkunst,muziek,economie,politiek,onderwijs,taal,\
godsdienst,wetenschap,scheepvaart,handel,stedenbouw,vrijheid,samenleving,landbouw",
    title: "De {t} van {p}
{t} en {u}
Inleiding tot de {t}
Geschiedenis van de {t}
{n} en zijn tijd
Bijdragen tot de {t}
Verzamelde gedichten",
    subtitle: "een onderzoek naar {t}
roman
{y}-{z}
bundel opstellen voor {n}
{t} en {u}",
    by: "{r}
door {r}
onder redactie van {r}",
};

pub(super) const PORTUGUESE: Source = Source {
    code: "por",
    script: "",
    native: "português",
    given: "João,José,Maria,António,Manuel,Ana,Luís,Carlos,Inês,Fernando,Sebastião,Conceição",
    surname: "Silva,Santos,Ferreira,Pereira,Oliveira,Costa,Rodrigues,Martins,Sousa,Fernandes,\
Gonçalves,Gomes,Lopes,Marques,Alves,Almeida,Ribeiro,Pinto,Carvalho,Teixeira,Magalhães,Araújo",
    place: "Lisboa=po ,Rio de Janeiro=bl ,São Paulo=bl ,Porto=po ,Coimbra=po ,Brasília=bl ",
    publisher: "Editora {n}
Livraria {n}
Edições {n}
Universidade de {p}
Imprensa Nacional",
    topic: "história,poesia,literatura,música,economia,educação,sociedade,política,cultura,\
língua,revolução,religião,ciência,arquitetura,memória,colonização,escravidão,imigração,nação",
    title: "A {t} e a {u}
História da {t} em {p}
Introdução à {t}
Ensaios de {t}
{t} e {u} no século XX
Vida e obra de {n}
Antologia da {t}",
    subtitle: "ensaio
romance
{y}-{z}
estudos de {t} e {u}
homenagem a {n}",
    by: "{r}
por {r}
organização de {r}",
};
