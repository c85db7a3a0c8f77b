//! English vocabulary: the names, places and grammar of most of the invented catalogue.
//!
//! Lists are separated by commas, patterns by line ends. Everything here is common vocabulary
//! put together by hand for regauge; no entry was taken over from a catalogue.

/// Given names, the most frequent first.
pub(super) const GIVEN: &str = "John,Mary,William,James,Robert,David,Elizabeth,Thomas,Susan,\
Richard,Margaret,George,Charles,Anne,Peter,Paul,Helen,Michael,Edward,Henry,Jane,Alan,Barbara,\
Frederick,Patricia,Stephen,Joseph,Ruth,Arthur,Donald,Kenneth,Catherine,Martin,Alice,Francis,\
Walter,Linda,Philip,Judith,Samuel,Daniel,Carol,Albert,Howard,Dorothy,Ronald,Eleanor,Harold,\
Andrew,Rachel,Simon,Laura,Roger,Frances,Hugh,Nancy,Leonard,Julia,Norman,Emma,Geoffrey,Diana,\
Raymond,Rose,Anthony,Joan,Benjamin,Lucy,Douglas,Irene,Herbert,Clara,Ralph,Edith,Gordon,Grace,\
Lawrence,Florence,Stuart,Sylvia,Bernard,Miriam,Nigel,Victoria,Oliver,Beatrice,Eric,Charlotte,\
Ernest,Harriet,Gerald,Marion,Duncan,Phyllis,Adrian,Gillian,Lionel,Winifred,Graham,Constance,\
Neil,Josephine,Warren,Edna,Clifford,Esther,Malcolm,Naomi,Theodore,Olive,Julian,Priscilla,Percy,\
Rosalind,Edgar,Audrey,Humphrey,Hilary,Alexander,Jessica,Roland,Cecily,Quentin,Iris,Basil,Maud";

/// First halves of surnames; a half of each kind makes 3,000 English-looking surnames.
pub(super) const SURNAME_HEAD: &str = "Ash,Bar,Bel,Black,Bram,Brook,Cald,Car,Chat,Clay,Clif,\
Cole,Cram,Dal,Den,Dray,Dun,East,El,Fair,Fen,Ford,Gar,Glen,Gran,Green,Hal,Hamp,Hart,Hat,Haw,Hol,\
Hun,Ken,Kirk,Lang,Lin,Lock,Mar,Mel,Mor,New,Nor,Oak,Pem,Pres,Ran,Red,Rock,Rush,Sea,Shel,Stan,\
Stock,Sut,Thorn,Tun,Wal,War,Web,West,Whit,Win,Wood,Wor";

/// Second halves of surnames.
pub(super) const SURNAME_TAIL: &str = "ton,field,ley,well,worth,ford,ham,bury,man,wood,son,\
den,ston,by,low,land,more,bridge,combe,croft,den,ell,er,gate,grave,hurst,ing,kin,lock,mere,\
mond,ner,over,ridge,shaw,stead,stock,thorpe,wick,win,wright,yard,bourne,cliff,dale,fell,head,\
house,ward";

/// Whole surnames, the most frequent first.
pub(super) const SURNAME: &str = "Smith,Brown,Jones,Miller,Taylor,Davis,Wilson,Clark,Evans,\
Moore,Hall,Allen,Young,King,Wright,Scott,Hill,Baker,Adams,Nelson,Carter,Mitchell,Roberts,Turner,\
Phillips,Campbell,Parker,Edwards,Collins,Stewart,Morris,Rogers,Reed,Cook,Morgan,Bell,Murphy,\
Bailey,Cooper,Richardson,Cox,Howard,Ward,Peterson,Gray,James,Watson,Brooks,Kelly,Sanders,Price,\
Bennett,Wood,Barnes,Ross,Henderson,Coleman,Jenkins,Perry,Powell,Long,Patterson,Hughes,Foster,\
Butler,Simmons,Bryant,Russell,Griffin,Hayes,Cohen,Schwartz,Levine,O'Brien,O'Connor,McDonald,\
MacLean,Fitzgerald,Lindqvist,Van Dyke,De Groot,Okafor,Nguyen,Patel,Singh,Chowdhury,Kowalski";

/// Places of publication with the MARC country code.
pub(super) const PLACE: &str = "New York=nyu,London=enk,Chicago=ilu,Cambridge, Mass.=mau,\
Boston=mau,Oxford=enk,Washington=dcu,Philadelphia=pau,San Francisco=cau,Los Angeles=cau,\
Cambridge=enk,Toronto=onc,Ann Arbor=miu,Princeton, N.J.=nju,New Haven=ctu,Baltimore=mdu,\
Edinburgh=stk,Berkeley=cau,Sydney=at ,Melbourne=at ,Dublin=ie ,Amsterdam=ne ,New Delhi=ii ,\
Englewood Cliffs, N.J.=nju,Detroit=miu,Boulder, Colo.=cou,Minneapolis=mnu,Austin=txu,Seattle=wau,\
Bloomington=inu,Ithaca, N.Y.=nyu,Manchester=enk,Glasgow=stk,Ottawa=onc,Montreal=quc,\
Urbana=ilu,Madison=wiu,Stanford, Calif.=cau,Chapel Hill=ncu,Atlanta=gau,Nashville=tnu,\
Leiden=ne ,Singapore=si ,Wellington=nz ,Cape Town=sa ,Westport, Conn.=ctu,Lanham, Md.=mdu,\
Hoboken, N.J.=nju,Thousand Oaks, Calif.=cau,Farnham=enk,Brookfield, Vt.=vtu,Columbus=ohu";

/// Publishers: `{n}` a surname, `{m}` another, `{p}` a place.
pub(super) const PUBLISHER: &str = "University of {p} Press
{n} University Press
{n} & {m}
{n} Press
{n}
{p} University Press
G.P.O.
{n} Books
Routledge
{n}, {m} & Co.
Government Printing Office
The Author
{n} Publishing Company
Academic Press
{n} and Sons
{p} Historical Society
{n} Institute
Clarendon {n}
Free Press
{n} House
{n} International
National Academy of {t}
{p} Museum of Art
Scarecrow {n}
World {t} Center";

/// Things that a book can be about, in lower case, without an article.
pub(super) const TOPIC: &str = "economics,history,politics,literature,education,music,law,\
medicine,philosophy,religion,science,language,art,poetry,trade,agriculture,labor,migration,\
childhood,architecture,theater,warfare,slavery,taxation,banking,railroads,fisheries,forestry,\
geology,astronomy,botany,chemistry,mechanics,statistics,logic,ethics,nursing,psychology,\
anthropology,sociology,photography,cinema,television,journalism,printing,bookbinding,libraries,\
museums,archives,gardening,cookery,textiles,pottery,costume,dance,folklore,mythology,magic,\
witchcraft,monasticism,missions,theology,preaching,hymnody,pilgrimage,diplomacy,espionage,\
propaganda,revolution,nationalism,colonialism,democracy,federalism,citizenship,human rights,\
censorship,crime,policing,prisons,punishment,poverty,welfare,housing,public health,sanitation,\
nutrition,epidemics,surgery,pharmacy,dentistry,aging,disability,marriage,family life,motherhood,\
masculinity,sexuality,friendship,memory,dreams,language acquisition,rhetoric,translation,\
grammar,phonology,lexicography,manuscripts,satire,tragedy,romance,autobiography,travel writing,\
letter writing,the novel,the short story,the essay,water supply,irrigation,soil conservation,\
climate change,air pollution,wildlife management,biodiversity,evolution,genetics,cell biology,\
ecology,oceanography,meteorology,hydrology,seismology,crystallography,thermodynamics,optics,\
electromagnetism,quantum theory,relativity,number theory,topology,geometry,probability,\
differential equations,computer programming,artificial intelligence,robotics,telecommunications,\
electronics,aviation,space flight,shipbuilding,navigation,cartography,surveying,urban planning,\
transportation,mining,metallurgy,petroleum,nuclear energy,solar energy,manufacturing,\
industrial relations,trade unions,management,accounting,marketing,advertising,insurance,\
international finance,economic development,foreign aid,land tenure,inheritance,\
constitutional law,contracts,torts,arbitration,patents,copyright,athletics,baseball,chess,\
hunting,mountaineering,sailing,toys,festivals,popular culture,material culture,everyday life";

/// Adjectives that fit in front of a topic.
pub(super) const ADJECTIVE: &str = "modern,early,American,British,medieval,social,political,\
comparative,popular,contemporary,ancient,urban,rural,colonial,imperial,public,private,applied,\
theoretical,experimental,general,practical,national,international,local,industrial,classical,\
romantic,Victorian,European,African,Asian,Latin American,Indian,Islamic,Jewish,Christian,\
Buddhist,Protestant,Catholic,feminist,critical,radical,liberal,conservative,mathematical,\
statistical,clinical,environmental,historical,moral,natural,human,visual,musical,dramatic,lyric,\
epic,oral,folk,maritime,military,naval,domestic,global,regional,secular,sacred,postwar,\
nineteenth-century,twentieth-century,eighteenth-century,Renaissance,Elizabethan,Ottoman,Soviet,\
Irish,Scottish,Canadian,Australian,Caribbean,Mediterranean,Atlantic,Pacific,western,southern";

/// Nouns for the figurative half of a title and for prose.
pub(super) const NOUN: &str = "shadow,river,garden,mirror,bridge,road,house,city,mountain,sea,\
island,harbor,forest,winter,summer,night,morning,fire,stone,glass,silver,gold,salt,bread,wine,\
song,voice,silence,word,letter,map,journey,border,frontier,market,village,temple,tower,wall,\
window,door,key,thread,web,wheel,clock,machine,engine,ship,sail,horse,bird,lion,wolf,serpent,\
rose,oak,seed,root,harvest,storm,wind,rain,snow,dust,ash,bone,blood,heart,eye,hand,crown,sword,\
shield,king,queen,prince,soldier,merchant,farmer,pilgrim,stranger,widow,orphan,child,daughter,\
brother,mother,father,teacher,scholar,poet,painter,doctor,judge,prophet,angel,ghost,dream,\
promise,secret,debt,gift,hunger,freedom,power,order,crisis,progress,tradition,change,conflict,\
community,identity,knowledge,justice,reform,empire,nation,state,people,class,gender,nature,\
culture,faith,reason,beauty,truth,time,space,form,style,theory,practice,method,evidence,argument";

/// Titles. `{t}` and `{u}` are topics, `{a}` and `{b}` adjectives, `{o}` and `{q}` nouns,
/// `{g}` a region, `{n}` a surname, `{c}` a century in words, `{y}` and `{z}` years.
pub(super) const TITLE: &str = "The {o} of {t}
{t} and {u}
{a} {t}
An introduction to {t}
{t} in {g}
The {a} {o}
A history of {t} in {g}
{a} {t} and the {o} of {u}
The {o} and the {q}
{o} of {q}
Studies in {a} {t}
{t}, {u}, and the {o}
{n}'s {o}
Essays on {t}
{t} in the age of {u}
{a} {o}s
Handbook of {a} {t}
The life and letters of {n}
Principles of {t}
{t} in {c} {g}
{g}, {y}-{z}
The {q} in {a} {t}
Readings in {t}
Towards a {a} theory of {t}
The {n} papers
Report on {t} in {g}
Problems of {a} {t}
Foundations of {t}
The {o}'s {q}
Beyond the {o}
Annual review of {t}
Bibliography of {t} and {u}
Selected poems
Concerto for {o} and {q}
{n} and the {a} {o}
Proceedings of the symposium on {t}
{t} made simple
Advances in {a} {t}
Where the {o} meets the {q}
{g} : land of the {o}";

/// What follows a colon in the title.
pub(super) const SUBTITLE: &str = "a study of {t} and {u}
{a} perspectives on {t}
essays in honor of {n}
{t} in {g}, {y}-{z}
a novel
an introduction
theory and practice
the {o} of {a} {t}
from {t} to {u}
poems
a {a} history
selected papers
the life of {n}
problems and prospects
a report to the Committee on {t}
the case of {g}
{t}, {u}, and the {q}
a {a} approach
proceedings of a conference held at {n} College, {y}
a guide to {t}
the making of {a} {t}
a bibliography
how {t} changed the {o}
{o}, {q}, and {t} in {g}
readings and cases
the {c} {o}";

/// Regions and countries as they stand in titles and headings, with the MARC geographic area code.
pub(super) const REGION: &str = "United States=n-us---,Great Britain=e-uk---,England=e-uk-en,\
France=e-fr---,Germany=e-gx---,India=a-ii---,China=a-cc---,Japan=a-ja---,Russia=e-ur---,\
Canada=n-cn---,Africa=f------,Italy=e-it---,Europe=e------,Spain=e-sp---,Mexico=n-mx---,\
California=n-us-ca,New York=n-us-ny,Michigan=n-us-mi,Brazil=s-bl---,Ireland=e-ie---,\
Israel=a-is---,Greece=e-gr---,Turkey=a-tu---,Egypt=f-ua---,Poland=e-pl---,Australia=u-at---,\
Latin America=cl-----,Asia=a------,Middle East=aw-----,Scotland=e-uk-st,Wales=e-uk-wl,\
Netherlands=e-ne---,Sweden=e-sw---,Norway=e-no---,Argentina=s-ag---,Chile=s-cl---,Peru=s-pe---,\
Cuba=nwcu---,Haiti=nwht---,Jamaica=nwjm---,Nigeria=f-nr---,Kenya=f-ke---,South Africa=f-sa---,\
Ghana=f-gh---,Ethiopia=f-et---,Iran=a-ir---,Iraq=a-iq---,Pakistan=a-pk---,Indonesia=a-io---,\
Vietnam=a-vt---,Korea=a-kr---,Philippines=a-ph---,Thailand=a-th---,Ukraine=e-un---,\
Hungary=e-hu---,Czech Republic=e-xr---,Austria=e-au---,Switzerland=e-sz---,Portugal=e-po---,\
Denmark=e-dk---,Finland=e-fi---,Iceland=e-ic---,New Zealand=u-nz---,Texas=n-us-tx,Ohio=n-us-oh,\
Virginia=n-us-va,Massachusetts=n-us-ma,Illinois=n-us-il,Wisconsin=n-us-wi,Georgia=n-us-ga,\
Southern States=n-usu--,Great Lakes Region=nl-----,Mediterranean Region=mm-----";

/// Sentences for summaries and notes, with the marks of [`TITLE`] and `{v}` a verb.
pub(super) const SENTENCE: &str = "This book {v}s the {o} of {t} in {g} between {y} and {z}.
Drawing on {a} {t}, the author {v}s how {u} became a {o} of {q}.
{n} {v}s the {a} {o} and its {q}.
When a {o} arrives in {g}, a young {q} must choose between {t} and {u}.
The essays in this volume {v} {t}, {u}, and the {a} {o}.
Each chapter {v}s a {a} {o}, from {t} to {u}.
A {a} account of {t} that {v}s the {q} behind the {o}.
With new evidence from {a} archives, {n} {v}s the {q} of {u}.
Contributors from {g} and elsewhere {v} current research in {a} {t}.
It {v}s the relation of {t} to {u} and {v}s the {o} of {a} {q}.
Set in {g} in {y}, the story of a {o}, a {q}, and a {a} family.
Students of {t} will find here a clear guide to {u}.
An interview with the {o} {n} closes the volume.
The {a} {q} of {g} is shown through {t} and {u}.
First published in {y}, this edition {v}s the {o} afresh.";

/// Verbs, in the form that takes an s.
pub(super) const VERB: &str = "examine,explore,trace,describe,consider,reveal,challenge,explain,\
question,document,analyze,survey,reconsider,illustrate,interpret,compare,chart,follow,recount,\
assess,introduce,discuss,present,show,uncover";

/// General notes (500). `{x}` a number, `{d}` a full date, `{e}` a title fragment.
pub(super) const NOTE: &str = "Includes index.
Includes bibliographical footnotes and an index of names, places and subjects.
Title from cover; imprint from the publisher's label mounted on the title page.
Description based on the first issue; title from caption; latest issue consulted: {y}.
Originally published: {p} : {n}, {y}.
Reprint. Originally published: {p} : {m} Press, {y}.
\"{d}.\"
Cover title: {e}.
Translation of: {e}.
\"Published in cooperation with the {n} Institute.\"
Caption title.
Errata slip inserted.
\"A {n} book.\"
Papers presented at a conference held at {n} College, {d}.
Limited ed. of {x} copies.
Issued also in microform.
Based on the author's thesis ({n} University, {y}).
Edition statement from jacket.
Maps on lining papers.
\"Report no. {x}.\"
At head of title: {p} Commission on {t}.
Spine title: {e}.
Description based on print version record.
Selected from the {n} collection of {a} {t}.
Some pages wanting; text complete.
Library's copy signed by the author. {x}";
