import { badRequest } from '../errors.ts'

export interface FieldRequirement {
  field: string
  operator: '=' | '!='
  value: string
}

/** A parsed field selector. An absent field counts as empty. */
interface ParsedFieldSelector {
  requirements: FieldRequirement[]
  matches: (getField: (field: string) => string | undefined) => boolean
  /** The canonical text, `metadata.name=a,status.phase!=Running`. */
  text: string
}

/** Splits at unescaped commas. */
function splitTerms(selector: string): string[] {
  if (selector === '') return []
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < selector.length; i++) {
    if (selector[i] === '\\') i++
    else if (selector[i] === ',') {
      terms.push(selector.slice(start, i))
      start = i + 1
    }
  }
  return [...terms, selector.slice(start)]
}

const operator = /!=|==?/

function unescape(value: string): string {
  const bad = (sequence: string) => badRequest(`invalid field selector: invalid escape sequence: ${sequence}`)
  let result = ''
  for (let i = 0; i < value.length; i++) {
    const char = value[i]!
    if (char === ',' || char === '=')
      throw badRequest(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`)
    if (char !== '\\') {
      result += char
      continue
    }
    const escaped = value[++i]
    if (escaped === undefined) throw bad('\\')
    if (!'\\,='.includes(escaped)) throw bad(`\\${escaped}`)
    result += escaped
  }
  return result
}

const escape = (value: string) => value.replace(/[\\,=]/g, '\\$&')

/**
 * Parses `metadata.name=x,status.phase!=Running`. The kind decides which fields are supported. Throws a BadRequest as
 * Kubernetes does.
 */
export function parseFieldSelector(text: string): ParsedFieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue
    const found = operator.exec(term)
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    requirements.push({
      field: term.slice(0, found.index),
      operator: found[0] === '!=' ? '!=' : '=',
      value: unescape(term.slice(found.index + found[0].length)),
    })
  }
  return {
    requirements,
    matches: (getField) => requirements.every((r) => ((getField(r.field) ?? '') === r.value) === (r.operator === '=')),
    text: requirements.map((r) => `${r.field}${r.operator}${escape(r.value)}`).join(','),
  }
}
