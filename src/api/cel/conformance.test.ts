// The language's own conformance suite, from @bufbuild/cel-spec.
import { describe, expect, it } from 'vitest'
import { compile } from './compile.ts'
import { type Case, cases, readType, readValue, reasonToSkip, texts } from './conformance-cases.ts'
import { Environment } from './environment.ts'
import { equals } from './equality.ts'
import { coreLibraries, kubernetesLibraries } from './kubernetes.ts'
import { formatType } from './types.ts'
import { Double, type Value } from './values.ts'

const environment = Environment.of({ libraries: kubernetesLibraries, isHomogeneous: false })
const meter = { cost: 0, limit: Infinity }

const isNan = (value: Value) => value instanceof Double && Number.isNaN(value.value)
const isSame = (a: Value, b: Value) => equals(meter, a, b) || (isNan(a) && isNan(b))

/** The fault of our answer; undefined if it is right. */
function judge(one: Case): string | undefined {
  const types = Object.fromEntries((one.typeEnv ?? []).map(({ name, ident }) => [name, readType(ident!.type)!]))
  const { program, error } = compile(one.expr, environment.extend(types))
  if (!program) return one.evalError ? undefined : error.message
  const deduced = one.typedResult?.deducedType && readType(one.typedResult.deducedType)
  if (deduced && formatType(program.type) !== formatType(deduced))
    return `type ${formatType(program.type)}, not ${formatType(deduced)}`
  if (one.checkOnly) return undefined
  const variables = Object.fromEntries(
    Object.entries(one.bindings ?? {}).map(([name, { value }]) => [name, readValue(value)!]),
  )
  const result = program.evaluate(variables)
  if (one.evalError) return result.error === undefined ? 'no error' : undefined
  if (result.error !== undefined) return result.error
  const wanted = one.value ?? one.typedResult?.result ?? { boolValue: true }
  const expected = readValue(wanted)
  return expected !== undefined && isSame(result.value, expected) ? undefined : `got ${String(result.value)}`
}

const applicable = cases.filter((one) => reasonToSkip(one) === undefined)
const wrong = applicable.flatMap((one) => {
  const problem = judge(one)
  return problem === undefined ? [] : [{ section: one.section, name: one.name, expr: one.expr, problem }]
})

/** The number of applicable cases in each section. All of them pass. */
const applicableBySection: Record<string, number> = {
  basic: 39,
  comparisons: 313,
  conversions: 108,
  fields: 49,
  fp_math: 29,
  integer_math: 61,
  lists: 39,
  logic: 21,
  macros: 44,
  macros2: 46,
  namespace: 1,
  optionals: 59,
  parse: 148,
  plumbing: 4,
  string: 51,
  string_ext: 165,
  timestamps: 75,
  type_deductions: 21,
}

describe('conformance', () => {
  it('runs the cases that apply to Kubernetes', () => {
    const counts: Record<string, number> = {}
    for (const { section } of applicable) counts[section] = (counts[section] ?? 0) + 1
    expect(counts).toEqual(applicableBySection)
  })

  it('leaves cases out by name, each for a reason', () => {
    const reasons: Record<string, number> = {}
    for (const one of cases) {
      const reason = reasonToSkip(one)
      if (reason) reasons[reason] = (reasons[reason] ?? 0) + 1
    }
    console.log(
      `cel-spec: ${applicable.length - wrong.length} of ${applicable.length} pass, ${cases.length - applicable.length} left out:`,
      reasons,
    )
    expect(applicable.length).toBeGreaterThan(1_250)
  })

  it.each(Object.keys(applicableBySection))('passes all of %s', (section) => {
    expect(wrong.filter((one) => one.section === section)).toEqual([])
  })
})

/** ANTLR goes on to guess after these mistakes, where our parser stops. */
const otherGuesses = ['{', 'func{{a}}', 'msg{:a}', '{:a}', '--', '`b-c`()', 'a.`$b`', "'\\udead' == '\\ufffd'"]

describe('messages of cel-go', () => {
  const core = Environment.of({ libraries: coreLibraries, isHomogeneous: false })

  it.each(texts.filter(({ expr }) => !otherGuesses.includes(expr) && !expr.includes('&& in.')))(
    'are ours: $expr',
    ({ expr, error }) => {
      expect(compile(expr, core).error?.message ?? '').toBe(error)
    },
  )
})
