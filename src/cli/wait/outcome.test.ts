import { describe, expect, it } from 'vitest'
import type { Workload } from '../../insight/workload/object.ts'
import { condition, sampleWorkload } from '../../insight/workload/sample.ts'
import { parseJsonPath, valuesAt } from '../../api/json/json-path.ts'
import { metBy, parseOutcome } from './outcome.ts'

const web = (status: Workload['status']): Workload => sampleWorkload('Deployment', {}, status)[1]
const available = (status: string, fields: object = {}) =>
  web({ conditions: [{ ...condition('Available', status, 'Enough', 1, 'All there'), ...fields }] })

describe('metBy()', () => {
  it.each([
    ['a condition that is True', 'condition=Available', available('True'), true],
    ['a condition in small letters', 'condition=available=true', available('True'), true],
    ['a condition that is False', 'condition=Available', available('False'), false],
    ['a condition that is to be False', 'condition=Available=False', available('False'), true],
    ['a condition that is not there', 'condition=Progressing', available('True'), false],
    [
      'a condition of an old generation',
      'condition=Available',
      { ...available('True'), metadata: { name: 'web', generation: 3 } },
      false,
    ],
    [
      'a condition that says itself that it is old',
      'condition=Available',
      available('True', { observedGeneration: 1 }),
      false,
    ],
    [
      'a condition of an object that does not tell generations',
      'condition=Available',
      { metadata: { name: 'web', generation: 9 }, status: { conditions: [condition('Available', 'True')] } },
      true,
    ],
    ['a value', 'jsonpath={.status.replicas}=3', web({ replicas: 3 }), true],
    [
      'an integer beyond 2^53',
      'jsonpath={.metadata.generation}=9007199254740993',
      { metadata: { generation: 9007199254740993n } },
      true,
    ],
    ['another value', 'jsonpath={.status.replicas}=3', web({ replicas: 2 }), false],
    ['any value', 'jsonpath={.status.replicas}', web({ replicas: 2 }), true],
    ['no value', 'jsonpath={.status.updateRevision}', web({}), false],
    [
      'a value behind a filter',
      'jsonpath={.status.conditions[?(@.type=="Available")].reason}=Enough',
      available('True'),
      true,
    ],
    ['a path without braces', 'jsonpath=.status.replicas=3', web({ replicas: 3 }), true],
    [
      'two values where one is asked for',
      'jsonpath={.status.conditions[*].status}=True',
      web({ conditions: [condition('A', 'True'), condition('B', 'True')] }),
      false,
    ],
    ['an object', 'create', web({}), true],
    ['no object', 'create', undefined, false],
    ['an object that is gone', 'delete', undefined, true],
    ['an object that is there', 'delete', web({}), false],
    ['a condition of no object', 'condition=Available', undefined, false],
  ])('%s', (_, text, object, isMet) => {
    expect(metBy(parseOutcome(text), object as Workload | undefined) !== undefined).toBe(isMet)
  })

  it('counts an object as deleted when another one has its name', () => {
    expect(metBy(parseOutcome('delete'), web({}), 'another uid')).toEqual({ detail: '' })
    expect(metBy(parseOutcome('delete'), web({}), 'uid-web')).toBeUndefined()
  })

  it('tells what the condition says', () => {
    expect(metBy(parseOutcome('condition=Available'), available('True'))).toEqual({ detail: 'Enough: All there' })
  })
})

it.each(['', 'ready', 'condition=', 'for=x'])('parseOutcome() refuses %j', (text) => {
  expect(() => parseOutcome(text)).toThrow(`unrecognized condition: ${JSON.stringify(text)}`)
})

describe('valuesAt()', () => {
  const value = {
    a: {
      'b.c/d': 1,
      list: [
        { n: 'x', v: 1 },
        { n: 'y', v: 2 },
      ],
    },
    empty: null,
  }
  it.each([
    ['{.a.list[0].v}', [1]],
    ['{.a.list[-1].v}', [2]],
    ['{.a.list[*].v}', [1, 2]],
    ['{.a.list[?(@.n=="y")].v}', [2]],
    ["{.a.list[?(@.n=='y')].v}", [2]],
    ['{.a.b\\.c/d}', [1]],
    ["{.a['b.c/d']}", [1]],
    ['{.empty.x}', []],
    ['{.nothing}', []],
    ['a.list[1].n', ['y']],
  ])('%s', (path, values) => expect(valuesAt(value, parseJsonPath(path))).toEqual(values))

  it.each(['{.a.list', '.a.list}', '{'])('refuses %s, whose brace has no other', (path) => {
    expect(() => parseJsonPath(path)).toThrow(`jsonpath ${JSON.stringify(path)} has an unclosed brace`)
  })

  it('refuses what it cannot read', () => {
    expect(() => parseJsonPath('{.a[?(@.n=~"y")]}')).toThrow(
      'jsonpath "{.a[?(@.n=~\\"y\\")]}" cannot be read at "[?(@.n=~\\"y\\")]"',
    )
  })
})
