import { describe, expect, it } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { CloneSet } from '../../../api/generated/types.ts'
import { cloneObject } from '../../../api/json/index.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { cloneSetFromV1beta1, cloneSetToV1beta1 } from './cloneset-conversion.ts'
import { clonesetsV1beta1 } from './clonesets-v1beta1.ts'
import { clonesets } from './clonesets.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
const spec = { selector: { matchLabels: { a: 'b' } }, template }
const draft = (more: object = {}, metadata: Record<string, unknown> = {}) => ({ metadata, spec: { ...spec, ...more } })
const beta = new DecodedTrial(clonesetsV1beta1)
const alpha = new DecodedTrial(clonesets)

const defaults = { podUpdatePolicy: 'ReCreate', partition: 0, maxUnavailable: '20%', maxSurge: 0 }
const weight = { weightPriority: [{ weight: 50, matchSelector: { matchLabels: { k: 'v' } } }] }
const rollingUpdate = { partition: '80%', maxUnavailable: 1, maxSurge: 2, paused: true, priorityStrategy: weight, scatterStrategy: [{ key: 'k', value: 'v' }] }

describe('clonesets of v1beta1', () => {
  it('has what is left out filled in', () => {
    expect(beta.created(draft()).spec).toMatchObject({
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      scaleStrategy: { enablePVCReuse: false },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: defaults },
    })
  })

  it.each<[string, object, object]>([
    ['its parameters', { type: 'InPlaceIfPossible', partition: '50%' }, { podUpdatePolicy: 'InPlaceIfPossible', partition: '50%', inPlaceUpdateStrategy: {} }],
    ['them over what stands in rollingUpdate', { partition: 0, paused: false, rollingUpdate: { partition: 3, paused: true } }, { partition: 0, paused: undefined }],
    ['an empty list over what stands in rollingUpdate', { scatterStrategy: [], rollingUpdate: { scatterStrategy: [{ key: 'k', value: 'v' }] } }, { scatterStrategy: undefined }],
    ['a type over the policy', { type: 'ReCreate', rollingUpdate: { podUpdatePolicy: 'InPlaceOnly' } }, { podUpdatePolicy: 'ReCreate' }],
    ['a grace period', { type: 'InPlaceOnly', inPlaceUpdateStrategy: { gracePeriodSeconds: 9 } }, { podUpdatePolicy: 'InPlaceOnly', inPlaceUpdateStrategy: { gracePeriodSeconds: 9 } }],
  ])('takes v1alpha1’s words: %s', (_, updateStrategy, rolling) => {
    const made = beta.created(draft({ updateStrategy })).spec.updateStrategy
    expect(made).toEqual({ type: 'RollingUpdate', rollingUpdate: { ...defaults, ...rolling } })
  })

  it.each([
    ['neither', {}, false],
    ['disablePVCReuse', { disablePVCReuse: false }, true],
    ['enablePVCReuse', { enablePVCReuse: true }, true],
    ['disablePVCReuse over what is there', { enablePVCReuse: true, disablePVCReuse: true }, false],
  ])('reuses claims as %s says', (_, scaleStrategy, enablePVCReuse) => {
    expect(beta.created(draft({ scaleStrategy })).spec.scaleStrategy).toEqual({ enablePVCReuse })
  })

  it.each<[string, object, string[]]>([
    ['a plain one', {}, []],
    ['an unknown type', { updateStrategy: { type: 'OnDelete' } }, ['spec.updateStrategy.type: Invalid value: "OnDelete": must be \'RollingUpdate\'']],
    [
      'an unknown policy',
      { updateStrategy: { rollingUpdate: { podUpdatePolicy: 'Never' } } },
      ["spec.updateStrategy.rollingUpdate.podUpdatePolicy: Invalid value: \"Never\": must be 'ReCreate', 'InPlaceIfPossible' or 'InPlaceOnly'"],
    ],
    [
      'a negative partition',
      { updateStrategy: { rollingUpdate: { partition: -1 } } },
      ['spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0'],
    ],
    ['a deadline of nothing', { progressDeadlineSeconds: -1 }, ['spec.progressDeadlineSeconds: Invalid value: -1: must be greater than 0']],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(beta.refusals(draft(more))).toEqual(refusals)
  })

  it('changes only images where updates are in place only', () => {
    const updateStrategy = { rollingUpdate: { podUpdatePolicy: 'InPlaceOnly' } }
    const next = draft({ updateStrategy, template: { ...template, spec: { ...template.spec, hostNetwork: true } } })
    expect(beta.updateRefusals(beta.created(draft({ updateStrategy })), next)[0]).toBe(
      'spec: Forbidden: only allowed to update images in spec for InPlaceOnly, but found a change of /hostNetwork',
    )
  })
})

describe('conversion of clonesets', () => {
  const parallelism = 'apps.kruise.io/image-predownload-parallelism'
  const timeout = 'apps.kruise.io/image-predownload-timeout-seconds'
  const excluding = { labels: { 'apps.kruise.io/cloneset-scaling-exclude-preparing-delete': 'true' } }

  it.each<[string, object, object]>([
    ['nothing said', {}, { type: 'ReCreate', partition: 0, maxUnavailable: '20%', maxSurge: 0 }],
    ['all parameters', { updateStrategy: { rollingUpdate } }, { type: 'ReCreate', ...rollingUpdate }],
    ['a policy', { updateStrategy: { rollingUpdate: { podUpdatePolicy: 'InPlaceOnly' } } }, { type: 'InPlaceOnly', inPlaceUpdateStrategy: {} }],
  ])('stores %s in v1alpha1’s words', (_, more, updateStrategy) => {
    const stored = cloneSetFromV1beta1(beta.created(draft(more)))
    expect(stored.apiVersion).toBe('apps.kruise.io/v1alpha1')
    expect(stored.spec.updateStrategy).toMatchObject(updateStrategy)
    expect(stored.spec.scaleStrategy).toEqual({ disablePVCReuse: true })
  })

  it.each<[string, ReturnType<typeof draft>]>([
    ['a plain one', draft()],
    ['all parameters', draft({ updateStrategy: { type: 'InPlaceIfPossible', ...rollingUpdate, inPlaceUpdateStrategy: { gracePeriodSeconds: 3 } } })],
    ['no reuse of claims', draft({ scaleStrategy: { disablePVCReuse: true, podsToDelete: ['x'], maxUnavailable: '5%', excludePreparingDelete: true } })],
    ['annotations that v1beta1 has fields for', draft({}, { annotations: { [parallelism]: '10%', [timeout]: '60', other: 'x' } })],
    ['such an annotation that says no number', draft({}, { annotations: { [timeout]: 'long' } })],
    ['a label that v1beta1 has a field for', draft({}, excluding)],
  ])('loses nothing of v1alpha1 on the way to v1beta1 and back: %s', (_, said) => {
    const stored = alpha.created(said) as CloneSet
    stored.apiVersion = 'apps.kruise.io/v1alpha1'
    const shown = cloneObject(cloneSetToV1beta1(stored))
    const before = cloneObject(shown)
    clonesetsV1beta1.defaults!(shown, { gates: FeatureGates.of({}), now: 0 })
    expect(shown).toEqual(before)
    expect(cloneSetFromV1beta1(shown)).toEqual(stored)
  })

  it('makes fields of annotations, and back', () => {
    const shown = cloneSetToV1beta1(alpha.created(draft({}, { annotations: { [parallelism]: '10', [timeout]: '60' } })))
    expect(shown.spec.updateStrategy.rollingUpdate!.inPlaceUpdateStrategy).toEqual({ imagePreDownloadParallelism: 10, imagePreDownloadTimeoutSeconds: 60 })
    expect(shown.metadata.annotations).toBeUndefined()
    shown.spec.updateStrategy.rollingUpdate!.inPlaceUpdateStrategy = { imagePreDownloadParallelism: '20%' }
    expect(cloneSetFromV1beta1(shown).metadata.annotations).toEqual({ [parallelism]: '20%' })
  })

  it('shows a label as a field', () => {
    expect(cloneSetToV1beta1(alpha.created(draft({}, excluding))).spec.scaleStrategy).toEqual({ excludePreparingDelete: true, enablePVCReuse: true })
  })
})
