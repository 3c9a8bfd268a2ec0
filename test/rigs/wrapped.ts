const WIDTH = 116;

/** A text in lines that fit an expected text, all of them indented, and those that go on by two spaces more. */
export function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = indent;
    for (const word of paragraph.trim().split(' ')) {
      if (line.length + word.length > WIDTH && line.trim() !== '') {
        lines.push(line.trimEnd());
        line = `${indent}  `;
      }
      line += `${word} `;
    }
    lines.push(line.trimEnd());
  }
  return lines.join('\n');
}
