const WIDTH = 116;

/**
 * A text in lines that fit an expected text, all of them indented, and those that go on by two spaces more.
 *
 * @param after what a line may end with
 */
export function wrapped(text: string, indent: string, after = /(?<= )/): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = indent;
    for (const part of paragraph.trim().split(after)) {
      if (line.length + part.trimEnd().length > WIDTH && line.trim() !== '') {
        lines.push(line.trimEnd());
        line = `${indent}  `;
      }
      line += part;
    }
    lines.push(line.trimEnd());
  }
  return lines.join('\n');
}
