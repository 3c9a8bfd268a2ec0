/** Brings a page, rule by rule, to what its readers meet: a line for each part, with where links and forms lead. */
const RULES: readonly (readonly [RegExp, string | ((part: string) => string)])[] = [
  [/\s+/g, ' '],
  [/<head>.*?<title>(.*?)<\/title>.*?<\/head>/, '<p>title: $1</p>'],
  [/<(svg|noscript).*?<\/\1>/g, ''],
  [/<option [^>]*selected ?>(.*?)<\/option>/g, '$1'],
  [/<option.*?<\/option>/g, ''],
  // What a form says of the page that it is on differs in each run.
  [/<input type="hidden" name="(?:shown|seen)"[^>]*>/g, ''],
  [/<input type="hidden" name="(\w+)" value="([^"]*)"[^>]*>/g, ' $1=$2 '],
  [/<(?:input|select)[^>]*? name="(\w+)"( value="[^"]+")?(?:[^>]*?( required))?[^>]*>/g, ' [$1$2$3] '],
  [
    /<button(?: class="\w+")?(?: name="(\w+)" value="([^"]*)")?(?: formaction="([^"]*)")?[^>]*>(.*?)<\/button>/g,
    ' {$4 $1 $2 $3} ',
  ],
  [/<form[^>]* action="([^"]*)"[^>]*>/g, '<p>to $1: '],
  [/<a (?:class="[\w ]+" )?href="([^"]*)" aria-current="true" ?>(.*?)<\/a *>/g, ' $2 (here) '],
  [/<a (?:class="[\w ]+" )?href="([^"]*)"[^>]*>(.*?)<\/a *>/g, ' $2 ($1) '],
  [/<details open>/g, '<p>opened: '],
  [/<\/summary>/g, ':'],
  [/<(?:div|section) class="(?:notice|outcome)[^"]*" role="(\w+)"[^>]*>/g, '<p>$1: '],
  [/(?<=: )\s*<p>/g, ''],
  [/<(li|details)\b.*?<\/\1>/g, (part) => part.replace(/<\/?(?:p|div|summary)\b[^>]*>/g, ' ')],
  [/<\/dt>\s*<dd>/g, ': '],
  [/<\/t[hd]>/g, ' | '],
  [/<\/?(?:p|h\d|li|dl|dt|dd|tr|section|div|nav|header|main|footer|summary|details|ul|ol|table|form)\b[^>]*>/g, '\n'],
  [/<[^>]*>/g, ' '],
  [/[ \t]+/g, ' '],
  [/ (?=[}\n])/g, ''],
];

export function linesOf(html: string): string[] {
  const text = RULES.reduce((left, [expression, replacement]) => left.replace(expression, replacement as string), html);
  return unescaped(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '|');
}

/** What `escapeHtml` made of a text, as it was. */
export function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_match, code) => String.fromCharCode(Number(code)));
}
