import { describe, expect, it } from 'vitest'
import { daemonsets } from './daemonsets.ts'
import { ResourceTrial } from '../resource-trial.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const spec = { selector: { matchLabels: { a: 'b' } }, template }
const draft = (more: object = {}) => ({ spec: { ...spec, ...more } })
const rolling = (rollingUpdate: object) => draft({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
const trial = new ResourceTrial(daemonsets)
const generation = 'deprecated.daemonset.template.generation'
const at = 'spec.updateStrategy.rollingUpdate'

describe('daemonsets', () => {
  it('fills in strategy, history and deadline', () => {
    const { spec: made } = trial.created(draft())
    expect(made.updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } })
    expect(made).toMatchObject({ revisionHistoryLimit: 10, progressDeadlineSeconds: 2147483647 })
    expect(new ResourceTrial(daemonsets, { DaemonSetConditions: false }).created(draft({ progressDeadlineSeconds: 9 })).spec.progressDeadlineSeconds).toBeUndefined()
  })

  it.each([
    ['a plain one', draft(), []],
    ['OnDelete with rollingUpdate', draft({ updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 5 } } }), []],
    [
      'an unknown strategy',
      draft({ updateStrategy: { type: 'Recreate' } }),
      ['spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"'],
    ],
    ['neither surge nor unavailable pods', rolling({ maxUnavailable: 0 }), [`${at}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`]],
    [
      'both surge and unavailable pods',
      rolling({ maxUnavailable: 1, maxSurge: 1 }),
      [`${at}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`],
    ],
    ['an empty selector', draft({ selector: {} }), ['spec.selector: Invalid value: {}: empty selector is invalid for daemonset']],
    ['no selector', draft({ selector: undefined }), ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`']],
    ['a deadline of -1', draft({ progressDeadlineSeconds: -1 }), ['spec.progressDeadlineSeconds: Invalid value: -1: must be greater than 0']],
  ])('says of %s: %j', (_, obj, refusals) => {
    expect(trial.refusals(obj)).toEqual(refusals)
  })

  it('counts changes of the template in an annotation that users set at creation only', () => {
    const made = trial.created({ ...draft(), metadata: { annotations: { [generation]: '5' } } })
    expect(made.metadata.annotations[generation]).toBe('5')
    expect(trial.created({ ...draft(), metadata: { annotations: { [generation]: '-5' } } }).metadata.annotations[generation]).toBe('1')
    const same = trial.updated(made, { ...draft({ minReadySeconds: 1 }), metadata: { annotations: { [generation]: '9' } } })
    expect(same.metadata.annotations[generation]).toBe('5')
    const changed = trial.updated(made, draft({ template: { ...template, spec: { containers: [{ name: 'c', image: 'j' }] } } }))
    expect(changed.metadata.annotations[generation]).toBe('6')
  })

  it('counts changes of the template beyond 2^53', () => {
    const made = trial.created({ ...draft(), metadata: { annotations: { [generation]: '9007199254740993' } } })
    const other = { ...template, spec: { containers: [{ name: 'c', image: 'j' }] } }
    const changed = trial.updated(made, draft({ template: other }))
    expect(changed.metadata.annotations[generation]).toBe('9007199254740994')
  })

  it('refuses a count of changes that is no number as it refuses what it cannot read', () => {
    const create = () => trial.created({ ...draft(), metadata: { annotations: { [generation]: 'five' } } })
    expect(create).toThrow('DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "five": invalid syntax')
  })

  it('says that the selector may not change before what is wrong with the new one', () => {
    expect(trial.updateRefusals(trial.created(draft()), draft({ selector: undefined }))).toEqual([
      'spec.selector: Invalid value: null: field is immutable',
      'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ])
  })

  it('is shown with the nodes it wants and has', () => {
    const obj = { ...trial.created(draft()), status: { desiredNumberScheduled: 3, numberReady: 2 } }
    expect(trial.cells(obj)).toMatchObject({ Desired: 3, Current: 0, Ready: 2, 'Node Selector': '<none>', Selector: 'a=b' })
  })
})
