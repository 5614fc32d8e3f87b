import { describe, expect, it } from 'vitest'
import { replicasets } from './replicasets.ts'
import { ResourceTrial } from '../resource-trial.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { selector: { matchLabels: { a: 'b' } }, template }
const draft = (more: object = {}) => ({ spec: { ...spec, ...more } })
const trial = new ResourceTrial(replicasets)

describe('replicasets', () => {
  it('wants one replica where nothing is said', () => {
    expect(trial.created(draft()).spec.replicas).toBe(1)
    expect(trial.created(draft({ replicas: 0 })).spec.replicas).toBe(0)
  })

  it.each([
    ['negative numbers', { replicas: -1, minReadySeconds: -2 }, [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      'spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0',
    ]],
    ['an empty selector', { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
    ['labels in any order', { template: { ...template, metadata: { labels: { z: '1', c: '2' } } } }, [
      'spec.template.metadata.labels: Invalid value: {"c":"2","z":"1"}: `selector` does not match template `labels`',
    ]],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(trial.refusals(draft(more))).toEqual(refusals)
  })

  it('changes its template and not its selector', () => {
    const old = trial.created(draft())
    expect(trial.updateRefusals(old, draft({ template: { ...template, spec: { containers: [{ name: 'c', image: 'j' }] } } }))).toEqual([])
    const selector = { matchExpressions: [{ key: 'a', operator: 'Exists' }] }
    expect(trial.updateRefusals(old, draft({ selector }))).toEqual([
      'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable',
    ])
  })

  it('is scaled by its selector as text', () => {
    const obj = trial.created(draft({ replicas: 4 }))
    expect(replicasets.scale!.selector(obj)).toBe('a=b')
    expect(replicasets.scale!.specReplicas(obj)).toBe(4)
    replicasets.scale!.setReplicas(obj, 7)
    expect(obj.spec.replicas).toBe(7)
  })

  it('is shown with what it wants, has and what of it is ready', () => {
    const obj = { ...trial.created(draft({ replicas: 3 })), status: { replicas: 2, readyReplicas: 1 } }
    expect(trial.cells(obj)).toMatchObject({ Desired: 3, Current: 2, Ready: 1, Containers: 'c', Images: 'i', Selector: 'a=b' })
  })
})
