import { describe, expect, it } from 'vitest'
import { Interruption } from '../declarations.ts'
import { untyped } from '../schema/json-values.ts'
import { admissionEnvironment } from './environment.ts'
import { AdmissionEvaluation, OutOfBudget, compileAdmission, compileVariables } from './expression.ts'

/** An expression that costs about 70,000 units. */
const costly = 'object.l.all(a, object.l.all(b, a <= b || a > b))'
const object = untyped({ l: Array.from({ length: 100 }, (_, i) => i) })

function trial(count: number, budget: number, onVariable?: () => void, operator = '&&') {
  const given = Array.from({ length: count }, (_, i) => ({ name: `v${i}`, expression: operator === '&&' ? costly : `!${costly}` }))
  const { variables, environment } = compileVariables(given, admissionEnvironment({}))
  const expression = compileAdmission(given.map(({ name }) => `variables.${name}`).join(` ${operator} `), environment, [])
  return { evaluation: new AdmissionEvaluation({ object }, variables, budget, onVariable), expression }
}

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (e) {
    return e
  }
  throw new Error('nothing was thrown')
}

describe('AdmissionEvaluation', () => {
  const costOf = (count: number) => {
    const { evaluation, expression } = trial(count, 1e9)
    evaluation.evaluate(expression)
    return 1e9 - evaluation.remaining
  }

  it.each(['&&', '||'])('stops at the variable that exceeds the budget, in a chain of %s', (operator) => {
    let computed = 0
    const { evaluation, expression } = trial(100, costOf(3), () => computed++, operator)
    expect(thrownBy(() => evaluation.evaluate(expression))).toBeInstanceOf(OutOfBudget)
    expect(computed).toBe(3)
  })

  it('evaluates an expression again that was interrupted, at the same cost', () => {
    const interruption = new Interruption('spent')
    const { evaluation, expression } = trial(5, 1e9, () => {
      throw interruption
    })
    for (let i = 0; i < 5; i++) expect(thrownBy(() => evaluation.evaluate(expression))).toBe(interruption)
    expect(evaluation.evaluate(expression)).toEqual({ value: true })
    expect(1e9 - evaluation.remaining).toBe(costOf(5))
  })
})
