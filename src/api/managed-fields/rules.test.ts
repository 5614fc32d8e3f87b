import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { pathTexts } from './field-set.ts'
import type { Manager, Owner } from './managers.ts'
import { type NaiveState, naiveApply, naiveUpdate, shown } from './testing/naive-rules.ts'
import { applyConfiguration, ownersAfterUpdate } from './ownership.ts'
import { sampleSchema, sampleType } from './testing/sample-type.ts'

/** `one: {a: 1}` is an apply, `one! {a: 1}` a forced one, `one= {a: 1}` an update. */
type Step = string
/** The fields of each manager on one line, by the name in a step (`one` or `one=`). */
type Owned = Record<string, string>

interface State {
  value: unknown
  owners: readonly Owner[]
  conflicts: string[]
}

const signs: Record<string, Manager['operation']> = { ':': 'Apply', '!': 'Apply', '=': 'Update' }
const nameOf = ({ manager, operation }: Manager) => `${manager}${operation === 'Update' ? '=' : ''}`
const line = (paths: Iterable<string>) => [...paths].sort().join(' ')

function read(step: Step): { who: string; sign: string; value: unknown } {
  const [, who, sign, text] = /^(\w+)([:!=]) (.*)$/.exec(step)!
  return { who: who!, sign: sign!, value: parse(text!) as unknown }
}

function take(state: State | undefined, step: Step): State {
  const { who, sign, value } = read(step)
  const by: Manager = { manager: who, operation: signs[sign]!, apiVersion: 'v1', subresource: '' }
  const write = { type: sampleType, by, time: '2026-01-01T00:00:00Z', ignores: new Set<string>() }
  const { value: live, owners } = state ?? { value: {}, owners: [] }
  if (sign === '=') return { value, owners: ownersAfterUpdate(write, owners, live, value), conflicts: [] }
  const applied = applyConfiguration(write, owners, state && live, value, sign === '!')
  const conflicts = applied.conflicts.map((c) => `${nameOf(c.with)} ${c.path}`)
  return conflicts.length ? { value: live, owners, conflicts } : { ...applied, conflicts }
}

function takeNaively(state: NaiveState, step: Step): NaiveState {
  const { who, sign, value } = read(step)
  return sign === '=' ? naiveUpdate(sampleSchema, state, `${who}=`, value) : naiveApply(sampleSchema, state, who, value, sign === '!')
}

/** Takes the steps by the rules of the server and by the naive ones, and looks at the outcome of both. */
function check(steps: Step[], value: string, owned: Owned, conflicts: string[] = []): void {
  const state = steps.reduce<State | undefined>(take, undefined)!
  expect(state.value).toEqual(parse(value))
  expect(Object.fromEntries(state.owners.map((o) => [nameOf(o), line(pathTexts(o.fields))]))).toEqual(owned)
  expect(state.conflicts).toEqual(conflicts)
  const naive = steps.reduce(takeNaively, { value: {}, owners: new Map(), conflicts: [] })
  expect(naive.value).toEqual(parse(value))
  expect(Object.fromEntries([...naive.owners].map(([who, set]) => [who, line([...set].map(shown))]))).toEqual(owned)
}

interface Family {
  of: string
  /** Two values that differ in what `changed` names. */
  first: string
  second: string
  /** Fields that an apply of one of them owns besides the changed ones. */
  beside?: string
  /** Fields that an update owns besides those if it creates the object. */
  made?: string
  changed: string
}

const n = '.items[name="n"]'
const port = '.ports[port=80,protocol="TCP"]'
const families: Family[] = [
  { of: 'a scalar', first: '{a: 1}', second: '{a: 2}', changed: '.a' },
  { of: 'a structure', first: '{struct: {x: 1}}', second: '{struct: {x: 2}}', changed: '.struct.x', made: '.struct' },
  { of: 'a nested structure', first: '{struct: {inner: {z: 1}}}', second: '{struct: {inner: {z: 2}}}', changed: '.struct.inner.z', made: '.struct .struct.inner' },
  { of: 'two fields of a structure', first: '{struct: {x: 1, y: 1}}', second: '{struct: {x: 1, y: 2}}', changed: '.struct.y', beside: '.struct.x', made: '.struct' },
  { of: 'an atomic structure', first: '{whole: {x: 1, y: 1}}', second: '{whole: {x: 1}}', changed: '.whole' },
  { of: 'a map', first: '{map: {p: 1}}', second: '{map: {p: 2}}', changed: '.map.p', made: '.map' },
  { of: 'a map of structures', first: '{structs: {k: {x: 1}}}', second: '{structs: {k: {x: 2}}}', changed: '.structs.k.x', beside: '.structs.k', made: '.structs' },
  { of: 'an atomic map', first: '{wholeMap: {p: 1}}', second: '{wholeMap: {q: 1}}', changed: '.wholeMap' },
  { of: 'an atomic list', first: '{list: [1, 2]}', second: '{list: [2, 1]}', changed: '.list' },
  { of: 'an item', first: '{items: [{name: n, v: 1}]}', second: '{items: [{name: n, v: 2}]}', changed: `${n}.v`, beside: `${n} ${n}.name`, made: '.items' },
  { of: 'a map in an item', first: '{items: [{name: n, map: {p: 1}}]}', second: '{items: [{name: n, map: {p: 2}}]}', changed: `${n}.map.p`, beside: `${n} ${n}.name`, made: `.items ${n}.map` },
  { of: 'an item with a default key', first: '{ports: [{port: 80, name: x}]}', second: '{ports: [{port: 80, name: y}]}', changed: `${port}.name`, beside: `${port} ${port}.port`, made: '.ports' },
  { of: 'a value without a schema', first: '{any: {p: 1}}', second: '{any: {p: 2}}', changed: '.any.p', made: '.any' },
  { of: 'a nested value without a schema', first: '{any: {p: {q: 1}}}', second: '{any: {p: {q: 2}}}', changed: '.any.p.q', beside: '.any.p', made: '.any' },
  { of: 'a list without a schema', first: '{any: {p: [1]}}', second: '{any: {p: [2]}}', changed: '.any.p', made: '.any' },
  { of: 'an unknown field that is kept', first: '{open: {q: 1}}', second: '{open: {q: 2}}', changed: '.open.q', made: '.open' },
]

describe.each(families)('$of', ({ first, second, changed, beside = '', made = '' }) => {
  const owns = (...lines: string[]) => line(lines.join(' ').split(' ').filter(Boolean))
  const applied = owns(changed, beside)
  const without = owns(beside)
  const others: Owned = without ? { one: without } : {}

  it('is owned by whoever applies it', () => check([`one: ${first}`], first, { one: applied }))
  it('is the same when it is applied again', () => check([`one: ${first}`, `one: ${first}`], first, { one: applied }))
  it('changes when its manager applies another value', () => check([`one: ${first}`, `one: ${second}`], second, { one: applied }))
  it('goes when its manager applies it no more', () => check([`one: ${first}`, 'one: {}'], '{}', {}))
  it('is shared by two who apply the same', () => check([`one: ${first}`, `two: ${first}`], first, { one: applied, two: applied }))
  it('stays with the other when one of two stops', () => check([`one: ${first}`, `two: ${first}`, 'one: {}'], first, { two: applied }))
  it('conflicts when another applies another value', () => check([`one: ${first}`, `two: ${second}`], first, { one: applied }, [`one ${changed}`]))
  it('is taken by force', () => check([`one: ${first}`, `two! ${second}`], second, { ...others, two: applied }))
  it('is taken by an update', () => check([`one: ${first}`, `two= ${second}`], second, { ...others, 'two=': changed }))
  it('goes with an update that leaves it out', () => check([`one: ${first}`, 'two= {}'], '{}', {}))
  it('is shared with the update that made it', () => check([`two= ${first}`, `one: ${first}`], first, { 'two=': owns(applied, made), one: applied }))
  it('conflicts with the update that made it', () => check([`two= ${first}`, `one: ${second}`], first, { 'two=': owns(applied, made) }, [`two= ${changed}`]))
  it('stays with whoever took it by force when the first stops', () => check([`one: ${first}`, `two! ${second}`, 'one: {}'], second, { two: applied }))
})

const x = '.items[name="x"]'
const y = '.items[name="y"]'

describe('in particular', () => {
  it.each<[string, Step[], string, Owned, string[]?]>([
    ['fields of two managers in one structure', ['one: {struct: {x: 1}}', 'two: {struct: {y: 1}}', 'one: {}'], '{struct: {y: 1}}', { two: '.struct.y' }],
    ['a structure goes with the last of its fields', ['one: {struct: {x: 1}}', 'two: {struct: {y: 1}}', 'one: {}', 'two: {}'], '{}', {}],
    ['an empty structure is owned itself', ['one: {struct: {}}'], '{struct: {}}', { one: '.struct' }],
    ['an empty structure is filled by another', ['one: {struct: {}}', 'two: {struct: {x: 1}}'], '{struct: {x: 1}}', { one: '.struct', two: '.struct.x' }],
    ['an empty structure stays when what filled it goes', ['one: {struct: {}}', 'two: {struct: {x: 1}}', 'two: {}'], '{struct: {}}', { one: '.struct' }],
    ['a structure is emptied by its manager', ['one: {struct: {x: 1}}', 'one: {struct: {}}'], '{struct: {}}', { one: '.struct' }],
    ['a structure is emptied by null', ['one: {struct: {x: 1}}', 'one: {struct: null}'], '{struct: null}', { one: '.struct' }],
    ['a null leaves the fields of others', ['one: {struct: {x: 1}}', 'two: {struct: null}'], '{struct: {x: 1}}', { one: '.struct.x', two: '.struct' }],
    ['a null scalar conflicts with a value', ['one: {a: 1}', 'two: {a: null}'], '{a: 1}', { one: '.a' }, ['one .a']],
    ['what an update adds to a structure stays', ['one: {struct: {x: 1}}', 'two= {struct: {x: 1, y: 1}}', 'one: {}'], '{struct: {y: 1}}', { 'two=': '.struct.y' }],
    ['a map is emptied by its manager', ['one: {map: {p: 1}}', 'one: {map: {}}'], '{map: {}}', { one: '.map' }],
    ['keys of two managers', ['one: {map: {p: 1}}', 'two: {map: {q: 1}}'], '{map: {p: 1, q: 1}}', { one: '.map.p', two: '.map.q' }],
    ['one of two keys goes', ['one: {map: {p: 1, q: 1}}', 'one: {map: {q: 1}}'], '{map: {q: 1}}', { one: '.map.q' }],
    ['a key that an update removed comes back', ['one: {b: 1, map: {p: 1}}', 'two= {b: 1, map: {}}', 'one: {b: 1, map: {p: 1}}'], '{b: 1, map: {p: 1}}', { one: '.b .map.p' }],
    ['a structure in a map goes with its last field', ['one: {structs: {k: {x: 1}, l: {x: 1}}}', 'one: {structs: {l: {x: 1}}}'], '{structs: {l: {x: 1}}}', { one: '.structs.l .structs.l.x' }],
    ['a structure in a map stays with its key', ['one: {structs: {k: {x: 1}}}', 'two: {structs: {k: {y: 1}}}', 'two: {}'], '{structs: {k: {x: 1}}}', { one: '.structs.k .structs.k.x' }],
    ['an empty structure in a map', ['one: {structs: {k: {}}}'], '{structs: {k: {}}}', { one: '.structs.k' }],
    ['an atomic structure is not merged', ['one: {whole: {x: 1}}', 'two! {whole: {y: 1}}'], '{whole: {y: 1}}', { two: '.whole' }],
    ['a field in an atomic structure conflicts as a whole', ['one: {whole: {x: 1}}', 'two: {whole: {x: 1, y: 1}}'], '{whole: {x: 1}}', { one: '.whole' }, ['one .whole']],
    ['an atomic map is not merged', ['one: {wholeMap: {p: 1}}', 'two! {wholeMap: {q: 1}}'], '{wholeMap: {q: 1}}', { two: '.wholeMap' }],
    ['an empty atomic list', ['one: {list: []}'], '{list: []}', { one: '.list' }],
    ['an empty atomic list over a filled one', ['one: {list: [1]}', 'two: {list: []}'], '{list: [1]}', { one: '.list' }, ['one .list']],
    ['values of two managers in a set', ['one: {set: [1]}', 'two: {set: [2]}'], '{set: [1, 2]}', { one: '.set[=1]', two: '.set[=2]' }],
    ['a value of a set that two want', ['one: {set: [1, 2]}', 'two: {set: [2, 3]}', 'one: {}'], '{set: [2, 3]}', { two: '.set[=2] .set[=3]' }],
    ['a value of a set goes', ['one: {set: [1, 2]}', 'one: {set: [1]}'], '{set: [1]}', { one: '.set[=1]' }],
    ['a set in another order', ['one: {set: [1, 2]}', 'one: {set: [2, 1]}'], '{set: [2, 1]}', { one: '.set[=1] .set[=2]' }],
    ['the order of another in a set', ['one: {set: [1, 2]}', 'two: {set: [2, 1]}'], '{set: [2, 1]}', { one: '.set[=1] .set[=2]', two: '.set[=1] .set[=2]' }],
    ['a number and a text in a set are two values', ['one: {set: [1]}', 'two: {set: ["1"]}'], '{set: [1, "1"]}', { one: '.set[=1]', two: '.set[="1"]' }],
    ['a set that an update has filled', ['one= {set: [1, 2]}', 'two: {set: [2]}', 'two: {}'], '{set: [1, 2]}', { 'one=': '.set .set[=1] .set[=2]' }],
    ['an empty set is nobody’s', ['one: {a: 1, set: []}'], '{a: 1, set: []}', { one: '.a' }],
    ['items of two managers', ['one: {items: [{name: x, v: 1}]}', 'two: {items: [{name: y, v: 1}]}'], '{items: [{name: x, v: 1}, {name: y, v: 1}]}', { one: `${x} ${x}.name ${x}.v`, two: `${y} ${y}.name ${y}.v` }],
    ['an item goes, and the other stays', ['one: {items: [{name: x}, {name: y}]}', 'one: {items: [{name: y}]}'], '{items: [{name: y}]}', { one: `${y} ${y}.name` }],
    ['an item stays with a field of another', ['one: {items: [{name: x, v: 1}]}', 'two: {items: [{name: x, w: 1}]}', 'one: {}'], '{items: [{name: x, w: 1}]}', { two: `${x} ${x}.name ${x}.w` }],
    ['an item goes with what an update has added', ['one: {items: [{name: x}]}', 'two= {items: [{name: x, v: 1}]}', 'one: {}'], '{}', {}],
    ['an item of an update stays', ['one: {items: [{name: x}]}', 'two= {items: [{name: x}, {name: y}]}', 'one: {}'], '{items: [{name: y}]}', { 'two=': `${y} ${y}.name` }],
    ['an item with another key is another item', ['one: {items: [{name: x, v: 1}]}', 'one: {items: [{name: y, v: 1}]}'], '{items: [{name: y, v: 1}]}', { one: `${y} ${y}.name ${y}.v` }],
    ['applied items in their own order', ['one: {items: [{name: x}, {name: y}]}', 'one: {items: [{name: y}, {name: x}]}'], '{items: [{name: y}, {name: x}]}', { one: `${x} ${x}.name ${y} ${y}.name` }],
    ['a new item between those of another', ['one: {set: [1, 3]}', 'two: {set: [1, 2, 3]}'], '{set: [1, 2, 3]}', { one: '.set[=1] .set[=3]', two: '.set[=1] .set[=2] .set[=3]' }],
    ['items of another stay in front of those they stood before', ['one: {set: [1, 9, 2]}', 'two: {set: [2, 1]}'], '{set: [9, 2, 1]}', { one: '.set[=1] .set[=2] .set[=9]', two: '.set[=1] .set[=2]' }],
    ['items that no one shares go behind', ['one: {set: [1, 2]}', 'two: {set: [3, 4]}'], '{set: [1, 2, 3, 4]}', { one: '.set[=1] .set[=2]', two: '.set[=3] .set[=4]' }],
    ['a default key that is left out', ['one: {ports: [{port: 80, protocol: TCP}]}', 'two: {ports: [{port: 80, name: x}]}'], '{ports: [{port: 80, protocol: TCP, name: x}]}', { one: `${port} ${port}.port ${port}.protocol`, two: `${port} ${port}.name ${port}.port` }],
    ['the same port of two protocols', ['one: {ports: [{port: 80}]}', 'two: {ports: [{port: 80, protocol: UDP}]}'], '{ports: [{port: 80}, {port: 80, protocol: UDP}]}', { one: `${port} ${port}.port`, two: ['', '.port', '.protocol'].map((f) => `.ports[port=80,protocol="UDP"]${f}`).join(' ') }],
    ['a map where there was a scalar, without a schema', ['one: {any: {p: 1}}', 'two! {any: {p: {q: 1}}}'], '{any: {p: {q: 1}}}', { two: '.any.p .any.p.q' }],
    ['a scalar where there was a map, without a schema', ['one: {any: {p: {q: 1}}}', 'two! {any: {p: 1}}'], '{any: {p: 1}}', { two: '.any.p' }],
    ['keys of two managers without a schema', ['one: {any: {p: 1}}', 'two: {any: {q: 1}}', 'one: {}'], '{any: {q: 1}}', { two: '.any.q' }],
    ['known and unknown fields side by side', ['one: {open: {x: 1}}', 'two: {open: {q: {r: 1}}}', 'one: {}'], '{open: {q: {r: 1}}}', { two: '.open.q .open.q.r' }],
    ['three managers of one field', ['one: {a: 1}', 'two: {a: 1}', 'three: {a: 1}', 'two: {}'], '{a: 1}', { one: '.a', three: '.a' }],
    ['conflicts with two managers', ['one: {a: 1}', 'two: {a: 1}', 'three: {a: 2}'], '{a: 1}', { one: '.a', two: '.a' }, ['one .a', 'two .a']],
    ['force takes from all who share', ['one: {a: 1}', 'two: {a: 1, b: 1}', 'three! {a: 2}'], '{a: 2, b: 1}', { two: '.b', three: '.a' }],
    ['what was taken can be had back by agreement', ['one: {a: 1}', 'two! {a: 2}', 'one: {a: 2}'], '{a: 2}', { two: '.a', one: '.a' }],
    ['the same name by update and by apply is two managers', ['one= {a: 1}', 'one: {a: 2}'], '{a: 1}', { 'one=': '.a' }, ['one= .a']],
    ['an update of one’s own field moves it to the update', ['one: {a: 1}', 'one= {a: 2}'], '{a: 2}', { 'one=': '.a' }],
    ['an update that changes nothing owns nothing', ['one: {a: 1}', 'two= {a: 1}'], '{a: 1}', { one: '.a' }],
    ['updates add up', ['one= {a: 1}', 'one= {a: 1, b: 1}'], '{a: 1, b: 1}', { 'one=': '.a .b' }],
    ['an update forgets what it removes', ['one= {a: 1, b: 1}', 'one= {b: 1}'], '{b: 1}', { 'one=': '.b' }],
  ])('%s', (_, steps, value, owned, conflicts) => check(steps, value, owned, conflicts))
})
