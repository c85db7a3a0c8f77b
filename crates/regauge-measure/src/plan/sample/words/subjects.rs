//! Subject headings: the parts from which the invented authority file is made.

/// Topical headings, the most frequent first.
pub(super) const HEADING: &str = "Women,English language,World War, 1939-1945,Education,\
Authors,Agriculture,Music,Art,Science,Law,Christianity,Popular music,Economics,\
English literature,American literature,Philosophy,Children,Women authors,Jews,Indians of North \
America,African Americans,Political science,Labor,Railroads,Universities and colleges,Medicine,\
Architecture,Painting,Folklore,Cooking,Mathematics,Chemistry,Physics,Geology,Botany,\
Communism,Socialism,Democracy,Nationalism,Imperialism,Immigrants,Refugees,Human rights,\
International relations,International trade,Banks and banking,Money,Taxation,Insurance,\
Corporations,Industrial management,Small business,Advertising,Consumer behavior,\
Computer programming,Artificial intelligence,Database management,Electronic commerce,\
Telecommunication,Television broadcasting,Motion pictures,Photography,Journalism,Newspapers,\
Printing,Libraries,Archives,Museums,Manuscripts,Bookbinding,Children's literature,Detective and \
mystery stories,Science fiction,Short stories,Epic poetry,Sonnets,Drama,Theater,Opera,\
Symphonies,String quartets,Piano music,Songs,Choruses,Organ music,Jazz,Folk songs,Dance,\
Ballet,Costume,Textile fabrics,Pottery,Sculpture,Drawing,Prints,Posters,Gardens,\
Landscape architecture,City planning,Housing,Local transit,Roads,Bridges,Canals,Harbors,\
Ships,Navigation,Aeronautics,Astronautics,Astronomy,Meteorology,Oceanography,Hydrology,\
Earthquakes,Volcanoes,Minerals,Coal mines and mining,Petroleum industry and trade,\
Nuclear energy,Solar energy,Electric power,Water quality management,Air,Forests and forestry,\
Fisheries,Birds,Insects,Mammals,Fishes,Plant breeding,Soils,Irrigation,Food supply,Nutrition,\
Public health,Epidemics,Cancer,Tuberculosis,Nursing,Surgery,Pharmacology,Psychiatry,\
Psychoanalysis,Child psychology,Cognition,Memory,Dreams,Language acquisition,Linguistics,\
Grammar, Comparative and general,Translating and interpreting,Rhetoric,Logic,Ethics,Metaphysics,\
Aesthetics,Theology, Doctrinal,Church history,Monasticism and religious orders,Missions,\
Hymns,Sermons,Prayer,Islam,Buddhism,Hinduism,Judaism,Mythology,Witchcraft,Astrology,Marriage,\
Divorce,Families,Youth,Older people,Men,Masculinity,Homosexuality,Social classes,Poverty,\
Public welfare,Charities,Crime,Police,Prisons,Juvenile delinquency,Capital punishment,Slavery,\
Antisemitism,Race relations,Ethnicity,Citizenship,Elections,Political parties,Legislative \
bodies,Constitutional law,Administrative law,Criminal procedure,Contracts,Torts,Copyright,\
Land tenure,Inheritance and succession,Peasants,Labor unions,Strikes and lockouts,Wages,\
Unemployment,Women in the professions,Teachers,Student movements,Reading,Sports,Baseball,\
Soccer,Chess,Mountaineering,Hunting,Travelers,Voyages and travels,Cities and towns,Villages";

/// General subdivisions ($x).
pub(super) const SUBDIVISION: &str = "History,History and criticism,Social aspects,\
Law and legislation,Political aspects,Economic aspects,Philosophy,Study and teaching,\
Social conditions,Government policy,Economic conditions,Research,Employment,Religious aspects,\
Social life and customs,Politics and government,Foreign relations,Psychological aspects,\
Criticism and interpretation,Mathematical models,Data processing,Technique,Management,\
Environmental aspects,Moral and ethical aspects,Education,Psychology,In literature,Influence,\
Methodology,Historiography,Prevention,Legal status, laws, etc.,Public opinion,Finance,\
Health and hygiene,Diseases,Analysis,Design and construction,Measurement,Effect of radiation on,\
Intellectual life,Civilization,Commerce,Description and travel,Relations,Appreciation,Syntax";

/// Form subdivisions ($v).
pub(super) const FORM: &str = "Congresses,Bibliography,Biography,Periodicals,Fiction,\
Juvenile literature,Exhibitions,Case studies,Handbooks, manuals, etc.,Dictionaries,\
Statistics,Juvenile fiction,Poetry,Sources,Scores,Drama,Catalogs,Maps,Guidebooks,Indexes,\
Correspondence,Textbooks,Early works to 1800,Pictorial works,Encyclopedias";

/// Chronological subdivisions ($y).
pub(super) const PERIOD: &str = "20th century,19th century,18th century,1945-,1865-1918,\
17th century,21st century,1918-1945,16th century,To 1500,500-1400,Revolution, 1775-1783,\
Civil War, 1861-1865,1933-1945,1800-1850,1789-1815,1990-,1949-1976,1642-1660,600-1500";

/// Genre and form terms (655).
pub(super) const GENRE: &str = "Electronic books,History,Criticism, interpretation, etc,\
Biographies,Conference papers and proceedings,Fiction,Periodicals,Novels,Academic theses,\
Autobiographies,Short stories,Maps,Bibliographies,Feature films,Scores,Poetry,\
Government publications,Exhibition catalogs,Documentary films,Juvenile works,Textbooks,Essays,\
Live sound recordings,Guidebooks,Statistics";

/// Library of Congress classes that go with the headings, cycled over by the class of a heading.
pub(super) const CLASS: &str = "HQ,PE,D,LB,PN,S,ML,N,Q,K,BR,ML,HB,PR,PS,B,HQ,PN,DS,E,E,JA,HD,HE,\
LA,R,NA,ND,GR,TX,QA,QD,QC,QE,QK,HX,HX,JC,JC,JV,JV,HV,JC,JZ,HF,HG,HG,HJ,HG,HD,HD,HD,HF,HF,QA,QA,QA,\
HF,TK,PN,PN,TR,PN,Z,Z,Z,CD,AM,Z,Z";

/// Corporate body patterns with the marks of the title patterns.
pub(super) const BODY: &str = "{n} University.
{p} Historical Society.
{n} Foundation.
Institute of {T}.
{g}.|Ministry of {T}.
International Congress of {T}
{n} College.
Association for {T}.
{g}.|Department of {T}.
{p} Museum.
{n} Library.
{g}.|Committee on {T}.
{p} Symphony Orchestra.
National Council on {T}.
{g}.|Bureau of {T}.
World {T} Organization.
{n} Society.
Center for {A} {T}.
{p} (Diocese)
{g}.|Parliament.|Select Committee on {T}.";

/// Series title patterns.
pub(super) const SERIES: &str = "Studies in {a} {t}
{n} series in {t}
Publications of the {n} Institute
{a} {t} library
Research report
Working paper
{t} monographs
Contributions in {t}
Lecture notes in {t}
Occasional papers
The {n} lectures
Bulletin of {t}
Cambridge studies in {t}
Memoirs of the {p} Society
{a} {t} and {u}
Technical report
{p} texts and studies
World {t} series";
