import { describe, expect, it } from 'vitest'
import { namespaces } from '../client/index.ts'
import { type AnyController, defineController } from './kit/index.ts'
import { selectControllers } from './selection.ts'

const controller = (name: string): AnyController => defineController({ name, owner: namespaces, observe: () => ({}), plan: () => ({ actions: [] }), apply: {} })
const from = { 'a-controller': controller('a'), 'b-controller': ({ rootCa }: { rootCa: string }) => controller(`b-${rootCa}`), 'c-controller': [controller('c'), controller('d')] }

const settings = { rootCa: 'ca', timeZone: 'UTC', volumesDir: '/volumes' }

describe('selectControllers()', () => {
  it.each([
    ['all', ['*'], ['a-controller', 'b-controller', 'c-controller']],
    ['none', [], []],
    ['those that are named', ['c-controller', 'a-controller'], ['a-controller', 'c-controller']],
    ['all but one', ['*', '-b-controller'], ['a-controller', 'c-controller']],
    ['all but one, said first', ['-b-controller', '*'], ['a-controller', 'c-controller']],
    ['one that is named twice, by what is said first', ['a-controller', '-a-controller', '-c-controller', 'c-controller'], ['a-controller']],
  ])('takes %s', (_, selection, names) => {
    expect([...selectControllers(selection, settings, from).keys()]).toEqual(names)
  })

  it('tells a controller what it depends on', () => {
    expect([...selectControllers(['b-controller'], settings, from).values()].flat().map((c) => c.name)).toEqual(['b-ca'])
  })

  it('takes all of several that are one to users', () => {
    expect(selectControllers(['c-controller'], settings, from).get('c-controller')!.map((c) => c.name)).toEqual(['c', 'd'])
  })

  it.each(['d-controller', '-d-controller'])('refuses %s, which is none', (name) => {
    expect(() => selectControllers(['*', name], settings, from)).toThrow('"d-controller" is not in the list of known controllers: a-controller, b-controller, c-controller')
  })
})
