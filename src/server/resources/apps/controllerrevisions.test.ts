import { describe, expect, it } from 'vitest'
import { controllerrevisions } from './controllerrevisions.ts'
import { ResourceTrial } from '../resource-trial.ts'

const trial = new ResourceTrial(controllerrevisions)

describe('controllerrevisions', () => {
  it.each([
    ['an object', { data: { spec: {} }, revision: 1 }, []],
    ['no data', { revision: 1 }, ['data: Required value: data is mandatory']],
    ['a list', { data: [1], revision: 1 }, ['data: Required value: data must be a valid JSON object']],
    ['a text', { data: 'text', revision: 1 }, ['data: Required value: data must be a valid JSON object']],
    ['a negative revision', { data: {}, revision: -1 }, ['revision: Invalid value: -1: must be greater than or equal to 0']],
  ])('says of %s: %j', (_, draft, refusals) => {
    expect(trial.refusals(draft)).toEqual(refusals)
  })

  it('keeps its data and not its number', () => {
    const old = trial.created({ data: { k: 'v' }, revision: 1 })
    expect(trial.updateRefusals(old, { data: { k: 'v' }, revision: 2 })).toEqual([])
    expect(trial.updateRefusals(old, { data: { k: 'w' }, revision: 1 })).toEqual(['data: Invalid value: {"k":"w"}: field is immutable'])
  })

  it.each([
    ['a controller', [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u', controller: true }], 'statefulset.apps/web'],
    ['one of the core group', [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }], 'pod/p'],
    ['no controller', [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u' }], '<none>'],
  ])('is shown with its controller: %s', (_, ownerReferences, text) => {
    expect(trial.cells({ metadata: { name: 'x', ownerReferences }, revision: 1 })).toMatchObject({ Controller: text, Revision: 1 })
  })
})
