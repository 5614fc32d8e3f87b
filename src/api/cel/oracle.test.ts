// Rules and expressions that a real API server judged lie beside the checkout (../shared/cel) or where CEL_CASES says.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJson } from '../json/index.ts'
import { Path } from '../validation/path.ts'
import { type JsonSchema, RuleValidator, checkSchemaRules } from './index.ts'

const folder = process.env['CEL_CASES'] ?? path.resolve(import.meta.dirname, '../../../../shared/cel')
const isThere = existsSync(path.join(folder, 'oracle.json'))
const read = <T>(file: string): T => readJson(readFileSync(path.join(folder, file), 'utf8')) as T

interface JudgedRule {
  rule: string
  schema: JsonSchema
  /** `error`: the rule could not be evaluated. */
  cases: { self: unknown; oldSelf?: unknown; ok: boolean | 'error'; message?: string }[]
}

interface JudgedExpression {
  expr: string
  compiles: boolean
  ok?: boolean
  why?: string
}

/** A step of ../shared/recordings: a definition that was sent, and what was wrong with it. */
interface RecordedScenario {
  name: string
  steps: RecordedStep[]
}

interface RecordedStep {
  do: string
  body?: any
  answer?: { details?: { causes?: { field: string; message: string; reason: string }[] } }
}

const recordings = path.join(
  process.env['RECORDINGS'] ?? path.resolve(import.meta.dirname, '../../../../shared/recordings'),
  'crd.json',
)

const place = Path.of('spec', 'validation', 'openAPIV3Schema')

describe.skipIf(!isThere)('rules of public projects', () => {
  const rules = isThere ? read<JudgedRule[]>('oracle.json') : []

  it('are 124', () => {
    expect(rules).toHaveLength(124)
  })

  it.each(rules)('judges as Kubernetes does: $rule', ({ rule, schema, cases }) => {
    const ruled = { ...schema, 'x-kubernetes-validations': [{ rule, message: 'NO' }] }
    expect(checkSchemaRules({ type: 'object', properties: { spec: ruled } }, place)).toEqual([])
    const validator = new RuleValidator(ruled, false)
    for (const { self, oldSelf, ok, message } of cases) {
      const { errors } = validator.validate(
        self,
        Path.of('spec'),
        oldSelf === undefined ? {} : { old: oldSelf, isRatcheting: false },
      )
      expect({ self, ok: errors.length === 0 }).toEqual({ self, ok: ok === true })
      if (message) expect(errors.map((error) => error.message)).toContain(message)
    }
  })
})

describe.skipIf(!isThere)('expressions of extensions', () => {
  const expressions = isThere ? read<JudgedExpression[]>('ext.json') : []
  const spec: JsonSchema = {
    type: 'object',
    properties: { v: { type: 'object', additionalProperties: { type: 'string' } } },
  }

  it.each(expressions)('compiles, or not, and holds, or not: $expr', ({ expr, compiles, ok, why }) => {
    const ruled = { ...spec, 'x-kubernetes-validations': [{ rule: expr }] }
    const errors = checkSchemaRules({ type: 'object', properties: { spec: ruled } }, place)
    expect({ compiles: errors.length === 0, errors: compiles ? errors : [] }).toEqual({ compiles, errors: [] })
    // Only the beginning of a message was kept; behind a syntax error, ANTLR goes on to guess.
    if (!compiles && why?.startsWith('ERROR')) expect(errors[0]!.message).toContain(why.split('\nERROR')[0])
    if (compiles) expect(new RuleValidator(ruled, false).validate({}).errors.length === 0).toBe(ok)
  })
})

describe.skipIf(!existsSync(recordings))('recorded definitions with rules', () => {
  const all = existsSync(recordings)
    ? (readJson(readFileSync(recordings, 'utf8')) as { scenarios: RecordedScenario[] }).scenarios
    : []
  // A rule inside anyOf is no matter of the rules: the schema is not structural.
  const ruled = all.filter(({ name, steps }) => /^crd: rule (?!inside)/.test(name) && steps[0]?.body)

  it.each(ruled)('$name', ({ steps }) => {
    const [{ body, answer }] = steps as [RecordedStep]
    expect(checkSchemaRules(body.spec.versions[0].schema.openAPIV3Schema as JsonSchema, place)).toEqual(
      answer?.details?.causes ?? [],
    )
  })
})

/** A merge patch. */
function merged(target: any, patch: any): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result = { ...target }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merged(result[key], value)
  }
  return result
}

describe.skipIf(!existsSync(recordings))('recorded resources with rules', () => {
  const all = existsSync(recordings)
    ? (readJson(readFileSync(recordings, 'utf8')) as { scenarios: RecordedScenario[] }).scenarios
    : []

  it.each(all.filter(({ name }) => name.startsWith('cr rule:')))('$name', ({ steps }) => {
    let validator = new RuleValidator({ type: 'object' })
    let stored: unknown
    let judged = 0
    for (const step of steps) {
      const versions = step.body?.spec?.versions
      if (versions) validator = new RuleValidator(versions[0].schema.openAPIV3Schema as JsonSchema)
      const isWrite = /^(?:POST|PUT|PATCH) .*boats/.test(step.do) && !versions
      const causes = step.answer?.details?.causes ?? []
      // Other parts of the server judge these.
      if (!isWrite || causes.some(({ field }) => field === 'metadata.resourceVersion')) continue
      const object = step.do.startsWith('PATCH') ? merged(stored, step.body) : step.body
      const { errors } = validator.validate(object, undefined, step.do.startsWith('POST') ? {} : { old: stored })
      expect(errors).toEqual(causes.filter(({ message }) => !message.includes(' in body ')))
      if (causes.length === 0) stored = object
      judged++
    }
    expect(judged).toBeGreaterThan(0)
  })
})
