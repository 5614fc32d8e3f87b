const masks: [RegExp, string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, 'TIME'],
  [/(resourceVersion"?: )"\d+"/g, '$1"RV"'],
]

/** Output without what differs from run to run: times, ages, uids and resource versions. */
export function masked(text: string): string {
  let result = text
  for (const [pattern, replacement] of masks) result = result.replace(pattern, replacement)
  // An age keeps its column's width: it is shorter than its heading, or as long. After `for` it is a duration, which does not change.
  return result.replace(/(?<=\s)(?<!for )(\d+m)?\d+s( *)/g, (all) => 'AGE'.padEnd(all.length))
}

/** Lines of text indented with the code around them: the indentation, and the line breaks at both ends, are not part of it. */
export function block(parts: TemplateStringsArray, ...values: unknown[]): string {
  const whole = parts.reduce((text, part, i) => text + part + (i < values.length ? String(values[i]) : ''), '')
  const lines = whole.replace(/^\n/, '').replace(/\n *$/, '\n').split('\n')
  const indent = Math.min(...lines.filter((l) => l.trim() !== '').map((l) => /^ */.exec(l)![0].length))
  return lines.map((l) => l.slice(indent)).join('\n')
}
