import { describe, expect, it } from 'vitest'
import { ResourceTrial } from '../resource-trial.ts'
import { replicationcontrollers } from './replicationcontrollers.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const draft = (more: object = {}) => ({ spec: { template, ...more } })
const trial = new ResourceTrial(replicationcontrollers)

describe('replicationcontrollers', () => {
  it('takes selector and labels from the template', () => {
    const obj = trial.created(draft())
    expect(obj.spec).toMatchObject({ replicas: 1, selector: { a: 'b' } })
    expect(obj.metadata.labels).toEqual({ a: 'b' })
    expect(trial.created({ ...draft(), metadata: { labels: { own: '1' } } }).metadata.labels).toEqual({ own: '1' })
  })

  it.each([
    ['a plain one', draft(), []],
    ['no template', { spec: {} }, ['spec.selector: Required value', 'spec.template: Required value']],
    ['no labels', draft({ template: { spec: template.spec } }), ['spec.selector: Required value']],
    ['another selector', draft({ selector: { a: 'c' } }), [
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ]],
    ['a deadline', draft({ template: { ...template, spec: { ...template.spec, activeDeadlineSeconds: 5 } } }), [
      'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
    ]],
  ])('says of %s: %j', (_, obj, refusals) => {
    expect(trial.refusals(obj)).toEqual(refusals)
  })

  it('may change its selector along with the template', () => {
    const next = { spec: { selector: { x: 'y' }, template: { ...template, metadata: { labels: { x: 'y' } } } } }
    expect(trial.updateRefusals(trial.created(draft()), next)).toEqual([])
  })

  it('is selected by the replicas it has and shown with its selector', () => {
    const obj = { ...trial.created(draft()), status: { replicas: 3 } }
    expect(replicationcontrollers.selectableFields!['status.replicas']!(obj)).toBe('3')
    expect(trial.cells(obj)).toMatchObject({ Desired: 1, Current: 3, Selector: 'a=b' })
  })
})
