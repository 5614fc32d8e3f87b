import { ApiError, badRequest } from '../errors.ts'
import { parseInt64 } from '../numbers/int64.ts'
import { isLabelKey, isLabelValue } from '../validation/names.ts'
import type { LabelMatcher, Labels } from './label-selector.ts'
import { type Token, scanSelector } from './scan-label-selector.ts'

/** The operator of a requirement, as in the query string. */
type SelectorOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!'

export interface LabelRequirement {
  key: string
  operator: SelectorOperator
  /** Sorted and without duplicates. */
  values: string[]
}

const binaryOperators = 'in, notin, =, ==, !=, gt, lt'

const operatorOf: Partial<Record<Token['kind'], SelectorOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
}

const found = (token: Token, expected: string) => badRequest(`found '${token.text}', expected: ${expected}`)

const refused = (where: string, value: string, why: string) =>
  badRequest(`${where}: Invalid value: ${JSON.stringify(value)}: ${why}`)

class Parser {
  readonly #tokens: Iterator<Token, void>
  #current: Token = { kind: 'end', text: '' }

  constructor(text: string) {
    this.#tokens = scanSelector(text)
    this.#advance()
  }

  /** At the end, the end token stays the current one. */
  #advance(): void {
    const { value } = this.#tokens.next()
    if (value) this.#current = value
  }

  // In the position of a name, `in` and `notin` are names.
  #asName(token: Token): Token {
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'name', text: token.text } : token
  }

  #peek(): Token {
    return this.#asName(this.#current)
  }

  #next(): Token {
    const token = this.#peek()
    this.#advance()
    return token
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'end') return requirements
      if (token.kind !== 'name' && token.kind !== '!') throw found(token, "!, identifier, or 'end of string'")
      requirements.push(this.#inRequirement(() => this.#requirement()))
      const separator = this.#next()
      if (separator.kind === 'end') return requirements
      if (separator.kind !== ',') throw found(separator, "',' or 'end of string'")
      const after = this.#peek()
      if (after.kind !== 'name' && after.kind !== '!') throw found(after, "identifier after ','")
    }
  }

  #inRequirement<T>(parse: () => T): T {
    try {
      return parse()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw badRequest(`unable to parse requirement: ${error.message}`)
    }
  }

  #requirement(): LabelRequirement {
    let token = this.#next()
    const negated = token.kind === '!'
    if (negated) token = this.#next()
    if (token.kind !== 'name') throw found(token, 'identifier')
    const key = token.text
    const problems = isLabelKey(key)
    if (problems.length) throw refused('<nil>', key, problems.join('; '))
    if (negated) return { key, operator: '!', values: [] }
    const { kind } = this.#peek()
    if (kind === 'end' || kind === ',') return { key, operator: 'exists', values: [] }
    const operatorToken = this.#current
    this.#advance()
    const operator = operatorOf[operatorToken.kind]
    if (!operator) throw found(operatorToken, binaryOperators)
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()]
    return this.#checked({ key, operator, values: [...new Set(values)].sort() })
  }

  #checked(requirement: LabelRequirement): LabelRequirement {
    const { key, operator, values } = requirement
    const problems: string[] = []
    for (const [i, value] of values.entries()) {
      if ((operator === 'gt' || operator === 'lt') && parseInt64(value) === undefined) {
        problems.push(refused(`values[${i}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer").message)
      }
    }
    for (const [i, value] of values.entries()) {
      const bad = isLabelValue(value)
      if (bad.length) problems.push(refused(`values[${i}][${key}]`, value, bad.join('; ')).message)
    }
    if (problems.length) throw badRequest(problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`)
    return requirement
  }

  #exactValue(): string {
    const { kind } = this.#peek()
    if (kind === 'end' || kind === ',') return ''
    const token = this.#next()
    if (token.kind !== 'name') throw found(token, 'identifier')
    return token.text
  }

  #values(): string[] {
    const open = this.#next()
    if (open.kind !== '(') throw badRequest(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.kind === ')') {
      this.#next()
      return ['']
    }
    if (first.kind !== 'name' && first.kind !== ',') throw found(first, "',', ')' or identifier")
    const values = this.#list()
    this.#next()
    return values
  }

  /** Names separated by commas, where names may be missing: `(,a,,b)`. Stops before the closing parenthesis. */
  #list(): string[] {
    const values: string[] = []
    for (;;) {
      const token = this.#next()
      const after = this.#peek()
      if (token.kind === 'name') {
        values.push(token.text)
        if (after.kind === ')') return values
        if (after.kind !== ',') throw found(after, "',' or ')'")
      } else if (token.kind === ',') {
        if (values.length === 0 || after.kind === ')' || after.kind === ',') values.push('')
        if (after.kind === ')') return values
      } else {
        throw found(token, "',', or identifier")
      }
    }
  }
}

const valueOf = (labels: Labels, key: string): string | undefined =>
  labels && Object.hasOwn(labels, key) ? labels[key] : undefined

function compare({ key, operator, values }: LabelRequirement): LabelMatcher {
  const bound = parseInt64(values[0]!)!
  return (labels) => {
    const value = parseInt64(valueOf(labels, key) ?? '')
    return value !== undefined && (operator === 'gt' ? value > bound : value < bound)
  }
}

function compile(requirement: LabelRequirement): LabelMatcher {
  const { key, operator, values } = requirement
  switch (operator) {
    case 'exists':
      return (labels) => valueOf(labels, key) !== undefined
    case '!':
      return (labels) => valueOf(labels, key) === undefined
    case 'in':
    case '=':
    case '==': {
      const wanted = new Set(values)
      return (labels) => {
        const value = valueOf(labels, key)
        return value !== undefined && wanted.has(value)
      }
    }
    case 'notin':
    case '!=': {
      const unwanted = new Set(values)
      return (labels) => {
        const value = valueOf(labels, key)
        return value === undefined || !unwanted.has(value)
      }
    }
    default:
      return compare(requirement)
  }
}

/** Parses `a=b,c!=d,e in (x,y),!f,g,h>1` to requirements, sorted by key. Throws a BadRequest in Kubernetes' words. */
export const parseLabelRequirements = (text: string): LabelRequirement[] =>
  new Parser(text).parse().sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))

/**
 * Compiles the label selector of a query string. An empty one matches everything. Throws as parseLabelRequirements
 * does.
 */
export function parseLabelSelector(text: string): LabelMatcher {
  const matchers = parseLabelRequirements(text).map(compile)
  return (labels) => matchers.every((matches) => matches(labels))
}
