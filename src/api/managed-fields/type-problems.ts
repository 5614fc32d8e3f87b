import { goFormat, goTypeName } from '../printing/go-format.ts'
import { elementText } from './field-set.ts'
import type { MergeType } from './merge-type.ts'
import { type ListType, itemElement } from './typed-value.ts'
import { isFields } from '../object.ts'

/** The maximum number of reported problems. */
const maxProblems = 1000

type Tell = (path: string, why: string) => void

/** The reasons why a value does not fit its type, in the words of structured-merge-diff, each with its path. */
export function problemsOf(type: MergeType, value: unknown): string[] {
  const problems: string[] = []
  const tell: Tell = (path, why) => {
    if (problems.length < maxProblems) problems.push(path ? `${path}: ${why}` : why)
  }
  judge(type, value, '', tell)
  return problems
}

/** Formats all problems as one error: a single one as it is, several one per line. */
export const problemsText = (problems: readonly string[]): string =>
  problems.length === 1 ? problems[0]! : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n')

const isScalar = (value: unknown): boolean => typeof value !== 'object'

function judge(type: MergeType, value: unknown, path: string, tell: Tell): void {
  if (value === null || value === undefined) return
  switch (type.kind) {
    case 'map':
      return judgeMap(type, value, path, tell)
    case 'list':
      return judgeList(type, value, path, tell)
    case 'scalar':
      return judgeScalar(type.of, value, path, tell)
    case 'untyped':
      return
  }
}

function judgeScalar(of: (MergeType & { kind: 'scalar' })['of'], value: unknown, path: string, tell: Tell): void {
  if (of === undefined) return
  if (of === 'any') {
    if (!isScalar(value)) tell(path, `expected any scalar, got ${shown(value)}`)
  } else if (of === 'number') {
    if (typeof value !== 'number' && typeof value !== 'bigint')
      tell(path, `expected numeric (int or float), got ${goTypeName(value)}`)
  } else if (typeof value !== of) {
    tell(
      path,
      `expected ${of}, got ${of === 'string' ? `&value.valueUnstructured{Value:${goSyntax(value)}}` : shown(value)}`,
    )
  }
}

/** The first undeclared field ends the check of its map, as in Kubernetes. Declared fields are checked first. */
function judgeMap(type: MergeType & { kind: 'map' }, value: unknown, path: string, tell: Tell): void {
  if (!isFields(value)) return tell(path, `expected map, got ${shown(value)}`)
  let undeclared: string | undefined
  for (const name in value) {
    const of = type.field(name)
    if (of) judge(of, value[name], `${path}.${name}`, tell)
    else undeclared ??= name
  }
  if (undeclared !== undefined) tell(`${path}.${undeclared}`, 'field not declared in schema')
}

/** An item without a path element ends the check of its list. */
function judgeList(type: ListType, value: unknown, path: string, tell: Tell): void {
  if (!Array.isArray(value)) return tell(path, `expected list, got ${shown(value)}`)
  const seen = new Set<string>()
  for (const [i, item] of value.entries()) {
    const why = itemProblem(type, item)
    if (why) return tell(path, `element ${i}: ${why}`)
    const element = type.merging.kind === 'atomic' ? `i:${i}` : itemElement(type, item)!
    if (seen.has(element)) tell(path, `duplicate entries for key ${elementText(element)}`)
    seen.add(element)
    judge(type.items, item, path + elementText(element), tell)
  }
}

/** The reason why an item has no path element in a merged list. */
function itemProblem({ merging, items }: ListType, item: unknown): string | undefined {
  if (merging.kind === 'atomic') return undefined
  if (merging.kind === 'set') {
    if (isFields(item)) return "associative list without keys has an element that's a map type"
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
    return item === null ? "associative list without keys has an element that's an explicit null" : undefined
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isFields(item)) return 'associative list with keys may not have non-map elements'
  if (itemElement({ kind: 'list', merging, items }, item) !== undefined) return undefined
  const keys = merging.keys.map((key) => JSON.stringify(key)).join(' ')
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`
}

/** Go's `%v` of structured-merge-diff's value: `&{map[a:1]}`. */
const shown = (value: unknown): string => `&{${goFormat(value)}}`

/** Go's `%#v` of a decoded JSON value: `map[string]interface {}{"a":1}`. */
function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isFields(value)) return typeof value === 'string' ? JSON.stringify(value) : goFormat(value)
  const fields = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`)
  return `map[string]interface {}{${fields.join(', ')}}`
}
