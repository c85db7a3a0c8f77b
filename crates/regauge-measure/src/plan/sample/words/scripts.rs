//! Vocabularies of the languages written in other scripts.
//!
//! Each entry is the romanised form (what stands in the regular field), an equals sign, and the
//! form in the language's own script (what stands in the linked 880 field). Patterns hold the
//! two forms the same way. Romanisation follows the ALA-LC tables in spirit, diacritics
//! included, since those are what catalogues of such books are full of.

use super::Source;

pub(super) const RUSSIAN: Source = Source {
    code: "rus",
    script: "(N",
    native: "русский",
    given: "Ivan=Иван,Nikolaĭ=Николай,Aleksandr=Александр,Sergeĭ=Сергей,Mikhail=Михаил,\
Vladimir=Владимир,Petr=Петр,Anna=Анна,Elena=Елена,Natal'i︠a︡=Наталья,Ol'ga=Ольга,\
Alekseĭ=Алексей,Dmitriĭ=Дмитрий,Boris=Борис,Tat'i︠a︡na=Татьяна,Grigoriĭ=Григорий",
    surname: "Ivanov=Иванов,Smirnov=Смирнов,Kuznet︠s︡ov=Кузнецов,Popov=Попов,Vasil'ev=Васильев,\
Petrov=Петров,Sokolov=Соколов,Mikhaĭlov=Михайлов,Novikov=Новиков,Fedorov=Федоров,\
Morozov=Морозов,Volkov=Волков,Alekseev=Алексеев,Lebedev=Лебедев,Semenov=Семенов,Egorov=Егоров,\
Kozlov=Козлов,Stepanov=Степанов,Orlov=Орлов,Zaĭt︠s︡ev=Зайцев,Solov'ev=Соловьев,Belov=Белов",
    place: "Moskva=Москва=ru ,Leningrad=Ленинград=ru ,Sankt-Peterburg=Санкт-Петербург=ru ,\
Kiev=Киев=un ,Novosibirsk=Новосибирск=ru ,Kazan'=Казань=ru ,Minsk=Минск=bw ",
    publisher: "Izd-vo \"{n}\"=Изд-во \"{n}\"
Nauka=Наука
Izdatel'stvo {p}skogo universiteta=Издательство {p}ского университета
Khudozhestvennai︠a︡ literatura=Художественная литература
Sovetskiĭ pisatel'=Советский писатель
Prosveshchenie=Просвещение",
    topic: "istorii=истории,literatury=литературы,kul'tury=культуры,muzyki=музыки,nauki=науки,\
filosofii=философии,ėkonomiki=экономики,zhivopisi=живописи,teatra=театра,prava=права,\
i︠a︡zyka=языка,obrazovanii︠a︡=образования,promyshlennosti=промышленности,arkhitektury=архитектуры,\
revoli︠u︡t︠s︡ii=революции,gosudarstva=государства,fiziki=физики,khimii=химии,geologii=геологии,\
t︠s︡erkvi=церкви,voĭny=войны,derevni=деревни,goroda=города,poėzii=поэзии,obshchestva=общества",
    title: "Voprosy {t} i {u}=Вопросы {t} и {u}
Ocherki {t}=Очерки {t}
Istorii︠a︡ {t}=История {t}
Problemy sovremennoĭ {t}=Проблемы современной {t}
Razvitie {t} v {y}-{z} gg.=Развитие {t} в {y}-{z} гг.
Sobranie sochineniĭ=Собрание сочинений
Izbrannye stat'i po {u}=Избранные статьи по {u}
Osnovy {t}=Основы {t}
Pis'ma i dnevniki=Письма и дневники
Russkai︠a︡ shkola {t}=Русская школа {t}",
    subtitle: "roman=роман
sbornik stateĭ=сборник статей
uchebnoe posobie=учебное пособие
materialy konferent︠s︡ii, {y}=материалы конференции, {y}
stikhotvorenii︠a︡=стихотворения
dokumenty i materialy=документы и материалы
ocherk {u}=очерк {u}",
    by: "{r}={r}
pod redakt︠s︡ieĭ {r}=под редакцией {r}
sostavitel' {r}=составитель {r}",
};

pub(super) const CHINESE: Source = Source {
    code: "chi",
    script: "$1",
    native: "中文",
    given: "Wei=偉,Ming=明,Jianguo=建國,Xiaoping=小平,Zhiqiang=志強,Guohua=國華,Meiling=美玲,\
Yuming=玉明,Wen=文,Shulan=淑蘭,Dehua=德華,Yonggang=永剛,Liping=麗萍,Haitao=海濤,Jing=靜",
    surname: "Wang=王,Li=李,Zhang=張,Liu=劉,Chen=陳,Yang=楊,Zhao=趙,Huang=黃,Zhou=周,Wu=吳,Xu=徐,\
Sun=孫,Hu=胡,Zhu=朱,Gao=高,Lin=林,He=何,Guo=郭,Ma=馬,Luo=羅,Liang=梁,Song=宋,Zheng=鄭,Xie=謝",
    place: "Beijing=北京=cc ,Shanghai=上海=cc ,Taibei=臺北=ch ,Xianggang=香港=hk ,Nanjing=南京=cc ,\
Guangzhou=廣州=cc ,Tianjin=天津=cc ,Chengdu=成都=cc ",
    publisher: "{p} da xue chu ban she={p}大學出版社
Ren min chu ban she=人民出版社
Zhonghua shu ju=中華書局
{p} gu ji chu ban she={p}古籍出版社
Wen xue chu ban she=文學出版社
Shang wu yin shu guan=商務印書館
Ke xue chu ban she=科學出版社",
    topic: "li shi=歷史,wen xue=文學,zhe xue=哲學,jing ji=經濟,she hui=社會,jiao yu=教育,yi shu=藝術,\
yin yue=音樂,zheng zhi=政治,fa lü=法律,wen hua=文化,yu yan=語言,ke xue=科學,yi xue=醫學,\
jian zhu=建築,fo jiao=佛教,shi ci=詩詞,xiao shuo=小說,xi qu=戲曲,shu fa=書法,nong ye=農業,\
gong ye=工業,min su=民俗,kao gu=考古,wai jiao=外交,jun shi=軍事",
    title: "Zhongguo {t} shi=中國{t}史
{t} yu {u}={t}與{u}
{t} yan jiu={t}研究
Xian dai {t} gai lun=現代{t}概論
{p} {t} zi liao={p}{t}資料
{t} ji ben wen ti={t}基本問題
{n} quan ji={n}全集
Lun {t}=論{t}
{t} da ci dian={t}大辭典",
    subtitle: "{y}-{z}={y}-{z}
lun wen ji=論文集
chang pian xiao shuo=長篇小說
{t} de {u}={t}的{u}
zi liao hui bian=資料彙編",
    by: "{r} zhu={r}著
{r} bian zhu={r}編著
{r} zhu bian={r}主編",
};

pub(super) const JAPANESE: Source = Source {
    code: "jpn",
    script: "$1",
    native: "日本語",
    given: "Ichirō=一郎,Kenji=健二,Hiroshi=弘,Takeshi=武,Yoshio=義男,Akiko=明子,Kazuko=和子,\
Masao=正夫,Shōji=正二,Haruo=春雄,Kiyoshi=清,Michiko=美智子",
    surname: "Satō=佐藤,Suzuki=鈴木,Takahashi=高橋,Tanaka=田中,Watanabe=渡辺,Itō=伊藤,Yamamoto=山本,\
Nakamura=中村,Kobayashi=小林,Katō=加藤,Yoshida=吉田,Yamada=山田,Sasaki=佐々木,Matsumoto=松本,\
Inoue=井上,Kimura=木村,Shimizu=清水,Hayashi=林",
    place: "Tōkyō=東京=ja ,Kyōto=京都=ja ,Ōsaka=大阪=ja ,Nagoya=名古屋=ja ,Yokohama=横浜=ja ",
    publisher: "{p} Daigaku Shuppankai={p}大学出版会
{n} Shoten={n}書店
{n} Shobō={n}書房
{p} Shinbunsha={p}新聞社
Kōbundō=弘文堂",
    topic: "rekishi=歴史,bungaku=文学,shisō=思想,keizai=経済,shakai=社会,kyōiku=教育,bijutsu=美術,\
ongaku=音楽,seiji=政治,hōritsu=法律,bunka=文化,gengo=言語,kagaku=科学,igaku=医学,kenchiku=建築,\
bukkyō=仏教,shi=詩,shōsetsu=小説,engeki=演劇,nōgyō=農業,minzoku=民俗",
    title: "Nihon no {t}=日本の{t}
{t} to {u}={t}と{u}
{t} no kenkyū={t}の研究
Gendai {t} ron=現代{t}論
{t} nyūmon={t}入門
{p} no {t} to {u}={p}の{t}と{u}
{n} zenshū={n}全集
Kindai {t} shi=近代{t}史",
    subtitle: "{t} no sekai={t}の世界
{y}-{z}={y}-{z}
sono {t} to {u}=その{t}と{u}
ronbunshū=論文集",
    by: "{r} cho={r}著
{r} hencho={r}編著
{r} hen={r}編",
};

pub(super) const HEBREW: Source = Source {
    code: "heb",
    script: "(2/r",
    native: "עברית",
    given: "Avraham=אברהם,Mosheh=משה,Yosef=יוסף,Ya'aḳov=יעקב,David=דוד,Śarah=שרה,Rivḳah=רבקה,\
Shelomoh=שלמה,Yitsḥaḳ=יצחק,Me'ir=מאיר,Le'ah=לאה,Ḥayim=חיים",
    surname: "Kohen=כהן,Leṿi=לוי,Mizraḥi=מזרחי,Perets=פרץ,Biṭon=ביטון,Dahan=דהן,Fridman=פרידמן,\
Shapira=שפירא,Goldberg=גולדברג,Ben-Daṿid=בן־דוד,Yadin=ידין,Shemu'eli=שמואלי,Roṭ=רוט,Berman=ברמן",
    place: "Yerushalayim=ירושלים=is ,Tel-Aviv=תל־אביב=is ,Ḥefah=חיפה=is ,Benei Beraḳ=בני ברק=is ",
    publisher: "Hotsa'at {n}=הוצאת {n}
Mosad {n}=מוסד {n}
Universiṭat {p}=אוניברסיטת {p}
Sifriyat ha-{t}=ספריית ה{t}
Am ha-sefer=עם הספר",
    topic: "hisṭoryah=היסטוריה,sifrut=ספרות,shirah=שירה,ḥevrah=חברה,ḥinukh=חינוך,lashon=לשון,\
tarbut=תרבות,musiḳah=מוסיקה,filosofyah=פילוסופיה,halakhah=הלכה,agadah=אגדה,tefilah=תפילה,\
kalkalah=כלכלה,medinah=מדינה,mishpaṭ=משפט,omanut=אמנות,zikaron=זיכרון",
    title: "ha-{t} be-{p}=ה{t} ב{p}
Toldot ha-{t}=תולדות ה{t}
{t} ṿe-{u}={t} ו{u}
Meḥḳarim be-{t}=מחקרים ב{t}
Sefer ha-{u}=ספר ה{u}
Mavo la-{t}=מבוא ל{t}
Kitve {n}=כתבי {n}",
    subtitle: "roman=רומן
ḳovets ma'amarim=קובץ מאמרים
{t} ṿe-{u}={t} ו{u}
{y}-{z}={y}-{z}
sipurim=סיפורים",
    by: "{r}={r}
me-et {r}=מאת {r}
be-'arikhat {r}=בעריכת {r}",
};

pub(super) const ARABIC: Source = Source {
    code: "ara",
    script: "(3/r",
    native: "العربية",
    given: "Muḥammad=محمد,Aḥmad=أحمد,'Alī=علي,Ḥasan=حسن,Maḥmūd=محمود,Ibrāhīm=إبراهيم,\
Fāṭimah=فاطمة,Yūsuf=يوسف,'Umar=عمر,Khālid=خالد,Maryam=مريم,Sa'īd=سعيد,Jamāl=جمال",
    surname: "Ḥusayn=حسين,al-Sayyid=السيد,Maḥfūẓ=محفوظ,al-Miṣrī=المصري,al-Ḥakīm=الحكيم,Najjār=نجار,\
al-Khaṭīb=الخطيب,Ḥaddād=حداد,al-Shāfi'ī=الشافعي,Ṣāliḥ=صالح,al-'Aqqād=العقاد,Darwīsh=درويش,\
Qāsim=قاسم,Ismā'īl=إسماعيل,al-Baghdādī=البغدادي,'Abd Allāh=عبد الله",
    place: "al-Qāhirah=القاهرة=ua ,Bayrūt=بيروت=le ,Dimashq=دمشق=sy ,Baghdād=بغداد=iq ,\
al-Riyāḍ=الرياض=su ,Tūnis=تونس=ti ",
    publisher: "Dār al-{t}=دار ال{t}
Maktabat {n}=مكتبة {n}
Dār {n}=دار {n}
Jāmi'at {p}=جامعة {p}
al-Mu'assasah al-'Arabīyah=المؤسسة العربية",
    topic: "tārīkh=تاريخ,adab=أدب,shi'r=شعر,falsafah=فلسفة,iqtiṣād=اقتصاد,mujtama'=مجتمع,\
tarbiyah=تربية,lughah=لغة,thaqāfah=ثقافة,mūsīqá=موسيقى,fiqh=فقه,ḥadīth=حديث,siyāsah=سياسة,\
qānūn=قانون,fann=فن,naqd=نقد,riwāyah=رواية,turāth=تراث",
    title: "al-{t} wa-al-{u}=ال{t} وال{u}
Dirāsāt fī al-{t}=دراسات في ال{t}
Tārīkh al-{t} fī {p}=تاريخ ال{t} في {p}
Mabādi' al-{t}=مبادئ ال{t}
Kitāb al-{u}=كتاب ال{u}
Mu'jam al-{t}=معجم ال{t}
Dīwān {n}=ديوان {n}",
    subtitle: "riwāyah=رواية
dirāsah fī al-{t}=دراسة في ال{t}
{y}-{z}={y}-{z}
majmū'at maqālāt=مجموعة مقالات",
    by: "{r}={r}
ta'līf {r}=تأليف {r}
taḥqīq {r}=تحقيق {r}",
};

pub(super) const GREEK: Source = Source {
    code: "gre",
    script: "(S",
    native: "ελληνικά",
    given: "Giōrgos=Γιώργος,Nikos=Νίκος,Giannēs=Γιάννης,Maria=Μαρία,Kōstas=Κώστας,Eleni=Ελένη,\
Dēmētrēs=Δημήτρης,Sophia=Σοφία,Panagiōtēs=Παναγιώτης",
    surname: "Papadopoulos=Παπαδόπουλος,Oikonomou=Οικονόμου,Nikolaou=Νικολάου,Makrēs=Μακρής,\
Vasileiou=Βασιλείου,Dēmētriou=Δημητρίου,Angelopoulos=Αγγελόπουλος,Geōrgiou=Γεωργίου,Laskarēs=Λάσκαρης",
    place: "Athēna=Αθήνα=gr ,Thessalonikē=Θεσσαλονίκη=gr ,Leukōsia=Λευκωσία=cy ,Patra=Πάτρα=gr ",
    publisher: "Ekdoseis {n}=Εκδόσεις {n}
Hestia=Εστία
Panepistēmio {p}s=Πανεπιστήμιο {p}ς
Vivliopōleio {n}=Βιβλιοπωλείο {n}",
    topic: "historia=ιστορία,logotechnia=λογοτεχνία,poiēsē=ποίηση,mousikē=μουσική,philosophia=φιλοσοφία,\
oikonomia=οικονομία,koinōnia=κοινωνία,glōssa=γλώσσα,technē=τέχνη,politikē=πολιτική,paideia=παιδεία",
    title: "Hē {t} kai hē {u}=Η {t} και η {u}
Historia kai {t}=Ιστορία και {t}
Meletes gia tēn {t}=Μελέτες για την {t}
{t} tēs Hellados={t} της Ελλάδος
Eisagōgē stēn {t}=Εισαγωγή στην {t}",
    subtitle: "mythistorēma=μυθιστόρημα
{y}-{z}={y}-{z}
meletē=μελέτη
poiēmata=ποιήματα",
    by: "{r}={r}
epimeleia {r}=επιμέλεια {r}",
};

pub(super) const KOREAN: Source = Source {
    code: "kor",
    script: "$1",
    native: "한국어",
    given: "Yŏng-su=영수,Sŏng-ho=성호,Chi-yŏng=지영,Mi-gyŏng=미경,Tong-hyŏn=동현,Chŏng-hŭi=정희,\
Sang-u=상우,Ŭn-ju=은주",
    surname: "Kim=김,Yi=이,Pak=박,Ch'oe=최,Chŏng=정,Kang=강,Cho=조,Yun=윤,Chang=장,Im=임,Han=한",
    place: "Sŏul=서울=ko ,Pusan=부산=ko ,Taegu=대구=ko ,P'yŏngyang=평양=kn ",
    publisher: "{p} Taehakkyo Ch'ulp'anbu={p}대학교 출판부
Minŭmsa=민음사
Ilchogak=일조각
{p} Munhwasa={p} 문화사",
    topic: "yŏksa=역사,munhak=문학,sahoe=사회,kyŏngje=경제,chŏngch'i=정치,munhwa=문화,kyoyuk=교육,\
yesul=예술,ch'ŏrhak=철학,pulgyo=불교,sosŏl=소설,ŏnŏ=언어",
    title: "Han'guk ŭi {t}=한국의 {t}
{t} wa {u}={t}와 {u}
Hyŏndae {t} yŏn'gu=현대 {t} 연구
{t} immun={t} 입문
Uri {t} ŭi iyagi=우리 {t}의 이야기",
    subtitle: "{y}-{z}={y}-{z}
nonmunjip=논문집
{t} ŭi segye={t}의 세계",
    by: "{r} chŏ={r} 저
{r} p'yŏn={r} 편",
};
