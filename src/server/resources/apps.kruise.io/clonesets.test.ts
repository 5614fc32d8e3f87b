import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { clonesets } from './clonesets.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
const withContainer = (more: object) => ({ ...template, spec: { containers: [{ ...template.spec.containers[0], ...more }] } })
const spec = { selector: { matchLabels: { a: 'b' } }, template }
const draft = (more: object = {}) => ({ spec: { ...spec, ...more } })
const claim = (name: string, storage = '1Gi') => ({ metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } })
const trial = new DecodedTrial(clonesets)

const percentWords = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
const bothZero = 'maxUnavailable and maxSurge should not both be less than 1'
const strategy = 'spec.updateStrategy'

describe('clonesets', () => {
  it('fills in what is left out', () => {
    expect(trial.created(draft()).spec).toEqual({
      ...spec,
      template: expect.objectContaining({ spec: expect.objectContaining({ restartPolicy: 'Always', terminationGracePeriodSeconds: 30 }) }),
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      scaleStrategy: {},
      updateStrategy: { type: 'ReCreate', partition: 0, maxUnavailable: '20%', maxSurge: 0 },
    })
  })

  it('keeps what was said, zeroes too', () => {
    const said = { type: 'InPlaceIfPossible', partition: '50%', maxUnavailable: 0, maxSurge: 1, paused: true, inPlaceUpdateStrategy: { gracePeriodSeconds: 5 } }
    const made = trial.created(draft({ replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 2147483647, updateStrategy: said })).spec
    expect(made).toMatchObject({ replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 2147483647, updateStrategy: said })
  })

  it.each(['InPlaceIfPossible', 'InPlaceOnly'])('has a strategy of updates in place where the type is %s', (type) => {
    expect(trial.created(draft({ updateStrategy: { type } })).spec.updateStrategy.inPlaceUpdateStrategy).toEqual({})
  })

  it('makes whole claims of claim templates', () => {
    const [made] = trial.created(draft({ volumeClaimTemplates: [claim('data')] })).spec.volumeClaimTemplates
    expect(made).toMatchObject({ kind: 'PersistentVolumeClaim', spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } })
  })

  it.each<[string, object, string[]]>([
    ['a plain one', {}, []],
    ['negative replicas', { replicas: -1 }, ['spec.replicas: Invalid value: -1: must be greater than or equal to 0']],
    [
      'a selector of other pods, with an unknown operator',
      { selector: { matchExpressions: [{ operator: 'Gt', key: 'a', values: ['1'] }] } },
      [expect.stringContaining('not a valid selector operator'), expect.stringMatching(/^spec.selector: Invalid value: .*}$/)],
    ],
    ['an empty selector', { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for cloneset']],
    [
      'pods that end by themselves',
      { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in cloneset is not Supported',
      ],
    ],
    ['a template without an image', { template: withContainer({ image: '' }) }, ['spec.template.spec.containers[0].image: Required value']],
    [
      'a claim that is mounted',
      { volumeClaimTemplates: [claim('data')], template: withContainer({ volumeMounts: [{ name: 'data', mountPath: '/d' }] }) },
      [],
    ],
    [
      'a mount of a claim that there is none of',
      { template: withContainer({ volumeMounts: [{ name: 'data', mountPath: '/d' }] }) },
      ['spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'],
    ],
    [
      'a claim named as a volume is',
      { volumeClaimTemplates: [claim('data')], template: { ...template, spec: { ...template.spec, volumes: [{ name: 'data', emptyDir: {} }] } } },
      ['spec.template.spec.volumes[1].name: Duplicate value: "data"'],
    ],
    [
      'a claim of nothing',
      { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }] },
      ['spec.volumeClaimTemplates[0].spec.resources[storage]: Required value'],
    ],
    ['negative seconds', { minReadySeconds: -1 }, ['spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0']],
    ['a negative history', { revisionHistoryLimit: -1 }, ['spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0']],
    ['no time at all', { progressDeadlineSeconds: 0 }, ['spec.progressDeadlineSeconds: Invalid value: 0: must be greater than 0']],
    [
      'a deadline before a pod can be available',
      { progressDeadlineSeconds: 5, minReadySeconds: 5 },
      ['spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds'],
    ],
    [
      'seconds of readiness beyond the deadline that is filled in',
      { minReadySeconds: 600 },
      ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
    ],
    ['a deadline just after a pod can be available', { progressDeadlineSeconds: 6, minReadySeconds: 5 }, []],
    [
      'pods named twice',
      { scaleStrategy: { podsToDelete: ['x', 'y', 'x', 'x'] } },
      ['spec.scaleStrategy.podsToDelete: Invalid value: ["x","y","x","x"]: duplicated items [x]'],
    ],
    ['a limit of scaling in percent', { scaleStrategy: { maxUnavailable: '10%' } }, []],
    [
      'a limit of scaling in words',
      { scaleStrategy: { maxUnavailable: 'few' } },
      [`spec.scaleStrategy.maxUnavailable: Invalid value: "few": ${percentWords}`],
    ],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(trial.refusals(draft(more))).toEqual(refusals)
  })

  it.each<[string, object, string[]]>([
    [
      'an unknown type',
      { type: 'OnDelete' },
      [`${strategy}.type: Invalid value: "OnDelete": must be 'ReCreate', 'InPlaceIfPossible' or 'InPlaceOnly'`],
    ],
    ['a partition in percent', { partition: '80%' }, []],
    ['a partition above replicas', { partition: 7 }, []],
    ['a negative partition', { partition: -1 }, [`${strategy}.partition: Invalid value: -1: must be greater than or equal to 0`]],
    ['a partition in words', { partition: 'half' }, [`${strategy}.partition: Invalid value: "half": ${percentWords}`]],
    ['neither surge nor unavailable pods', { maxUnavailable: 0 }, [`${strategy}.maxUnavailable: Invalid value: 0: ${bothZero}`]],
    ['no percent of either', { maxUnavailable: '0%', maxSurge: '0%' }, [`${strategy}.maxUnavailable: Invalid value: "0%": ${bothZero}`]],
    ['a percentage that is less than a pod', { maxUnavailable: 0, maxSurge: '1%' }, []],
    ['surge only', { maxUnavailable: 0, maxSurge: 1 }, []],
    [
      'a surge that could take no pods',
      { type: 'InPlaceOnly', maxSurge: '10%' },
      [`${strategy}.maxSurge: Invalid value: "10%": can not use maxSurge with strategy type InPlaceOnly`],
    ],
    [
      'weights and order',
      { priorityStrategy: { weightPriority: [{ weight: 1, matchSelector: { matchLabels: { a: 'b' } } }], orderPriority: [{ orderedKey: 'k' }] } },
      [`${strategy}.priorityStrategy: Required value: only one of weightPriority and orderPriority can be used`],
    ],
    [
      'a weight too heavy',
      { priorityStrategy: { weightPriority: [{ weight: 101, matchSelector: { matchLabels: { a: 'b' } } }] } },
      [`${strategy}.priorityStrategy: Required value: weight must be valid number in the range 1-100`],
    ],
    [
      'a weight of nothing',
      { priorityStrategy: { weightPriority: [{ weight: 1, matchSelector: {} }] } },
      [`${strategy}.priorityStrategy: Required value: selector can not be empty`],
    ],
    [
      'an order by nothing',
      { priorityStrategy: { orderPriority: [{ orderedKey: '' }] } },
      [`${strategy}.priorityStrategy: Required value: order key can not be empty`],
    ],
    [
      'scattering twice alike',
      { scatterStrategy: [{ key: 'a', value: 'b' }, { key: 'a', value: 'b' }] },
      [`${strategy}.scatterStrategy: Required value: duplicated key=a value=b`],
    ],
    [
      'scattering by nothing',
      { scatterStrategy: [{ key: '', value: 'b' }] },
      [`${strategy}.scatterStrategy: Required value: key should not be empty`],
    ],
    [
      'less than no grace',
      { inPlaceUpdateStrategy: { gracePeriodSeconds: -1 } },
      [`${strategy}.inPlaceUpdateStrategy.gracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0`],
    ],
  ])('says of an update strategy with %s: %j', (_, updateStrategy, refusals) => {
    expect(trial.refusals(draft({ replicas: 3, updateStrategy }))).toEqual(refusals)
  })

  it('takes a strategy that moves no pods as long as there are none', () => {
    expect(trial.refusals(draft({ replicas: 0, updateStrategy: { maxUnavailable: 0 } }))).toEqual([])
  })

  const immutable =
    "spec: Forbidden: updates to cloneset spec for fields other than 'replicas', 'template', 'lifecycle', 'scaleStrategy', 'updateStrategy', 'minReadySeconds', 'volumeClaimTemplates', 'progressDeadlineSeconds' and 'revisionHistoryLimit' are forbidden"
  const beyond = (path: string) => `spec: Forbidden: only allowed to update images in spec for InPlaceOnly, but found a change of ${path}`
  const inPlaceOnly = { updateStrategy: { type: 'InPlaceOnly' } }
  const much = {
    replicas: 4,
    template: withContainer({ image: 'i:2', env: [{ name: 'A', value: 'b' }] }),
    lifecycle: { preDelete: { labelsHandler: { x: 'y' } } },
    scaleStrategy: { maxUnavailable: 1 },
    updateStrategy: { partition: 2 },
    minReadySeconds: 1,
    volumeClaimTemplates: [claim('data')],
    progressDeadlineSeconds: 9,
    revisionHistoryLimit: 2,
  }

  it.each<[string, object, object, string[]]>([
    ['everything that may change', {}, much, []],
    ['the same, to updates in place only', {}, { ...much, ...inPlaceOnly }, [beyond('/containers/0/env')]],
    ['claims of another size', { volumeClaimTemplates: [claim('data')] }, { volumeClaimTemplates: [claim('data', '2Gi')] }, []],
    [
      'the selector',
      {}, { selector: { matchLabels: { a: 'b', x: 'y' } }, template: { ...template, metadata: { labels: { a: 'b', x: 'y' } } } },
      [immutable],
    ],
    ['an image, in place only', inPlaceOnly, { ...inPlaceOnly, template: withContainer({ image: 'i:2' }) }, []],
    ['labels of pods, in place only', inPlaceOnly, { ...inPlaceOnly, template: { ...template, metadata: { labels: { a: 'b', v: '2' } } } }, []],
    ['a name, in place only', inPlaceOnly, { ...inPlaceOnly, template: withContainer({ name: 'd' }) }, [beyond('/containers/0/name')]],
    ['another container, in place only', inPlaceOnly, { ...inPlaceOnly, template: { ...template, spec: { containers: [...template.spec.containers, { name: 'd', image: 'i' }] } } }, [beyond('/containers/1')]],
  ])('says of a change of %s', (_, before, after, refusals) => {
    expect(trial.updateRefusals(trial.created(draft(before)), draft(after))).toEqual(refusals)
  })

  it.each<[string, object, string[]]>([
    [
      'counts above replicas',
      { replicas: 1, readyReplicas: 1, availableReplicas: 2, updatedReplicas: 2, updatedReadyReplicas: 2, updatedAvailableReplicas: 2, collisionCount: 3 },
      [
        'status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.updatedReadyReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.updatedAvailableReplicas: Invalid value: 2: cannot be greater than status.replicas',
        'status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas',
      ],
    ],
    ['fewer collisions', { collisionCount: 2 }, ['status.collisionCount: Invalid value: 2: cannot be decremented']],
    ['a negative count', { replicas: -1, collisionCount: 3 }, expect.arrayContaining(['status.replicas: Invalid value: -1: must be greater than or equal to 0'])],
    ['a good one', { replicas: 2, readyReplicas: 2, availableReplicas: 1, expectedUpdatedReplicas: 5, collisionCount: 3 }, []],
  ])('says of a status with %s', (_, status, refusals) => {
    expect(trial.statusRefusals({ ...trial.created(draft()), status: { collisionCount: 3 } }, status)).toEqual(refusals)
  })

  it('is shown as OpenKruise shows it', () => {
    const containers = [...template.spec.containers, { name: 'd', image: 'j' }]
    const made = trial.created(draft({ replicas: 5, template: { ...template, spec: { containers } } }))
    const status = { replicas: 6, readyReplicas: 4, updatedReplicas: 3, updatedReadyReplicas: 2, updatedAvailableReplicas: 1 }
    const cells = trial.cells({ ...made, status })
    expect(Object.keys(cells)).toEqual(['Name', 'DESIRED', 'UPDATED', 'UPDATED_READY', 'UPDATED_AVAILABLE', 'READY', 'TOTAL', 'AGE', 'CONTAINERS', 'IMAGES', 'SELECTOR'])
    expect(cells).toMatchObject({
      DESIRED: 5, UPDATED: 3, UPDATED_READY: 2, UPDATED_AVAILABLE: 1, READY: 4, TOTAL: 6, CONTAINERS: 'c d', IMAGES: 'i:1 j', SELECTOR: 'a=b',
    })
  })

  it('warns of a name that makes poor names of pods, at creation only', () => {
    const made = trial.created({ ...draft(), metadata: { name: 'a.b' } })
    expect(trial.warnings(made)).toEqual([expect.stringContaining('metadata.name: this is used in Pod names and hostnames')])
    expect(trial.warnings(made, made)).toEqual([])
  })
})
