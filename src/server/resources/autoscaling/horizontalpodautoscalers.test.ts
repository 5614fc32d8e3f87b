import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../api/object.ts'
import { ResourceTrial } from '../resource-trial.ts'
import { horizontalpodautoscalersV1 } from './horizontalpodautoscalers-v1.ts'
import { horizontalpodautoscalers } from './horizontalpodautoscalers.ts'

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const draft = (more: object = {}, metadata: Record<string, unknown> = {}) => ({ metadata, spec: { scaleTargetRef, maxReplicas: 3, ...more } })
const trial = new ResourceTrial(horizontalpodautoscalers)
const trialV1 = new ResourceTrial(horizontalpodautoscalersV1)
const { toStored, fromStored } = horizontalpodautoscalersV1.storedAs!
const prefix = 'autoscaling.alpha.kubernetes.io/'

const cpu = (averageUtilization: number) => ({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } })
const metric = (of: object) => draft({ metrics: [of] })

describe('horizontalpodautoscalers of v2', () => {
  it('fills in one replica and CPU at 80 %', () => {
    expect(trial.created(draft()).spec).toMatchObject({ minReplicas: 1, metrics: [cpu(80)] })
    expect(trial.created(draft()).spec.behavior).toBeUndefined()
  })

  it('fills in a behavior in part', () => {
    const { behavior } = trial.created(draft({ behavior: { scaleDown: { selectPolicy: 'Disabled' }, scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] } } })).spec
    expect(behavior).toEqual({
      scaleDown: { selectPolicy: 'Disabled', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
      scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
    })
  })

  it.each([
    ['a plain one', draft(), []],
    ['a ReplicationController without a group', draft({ scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'r' } }), []],
    ['a target without a group', draft({ scaleTargetRef: { kind: 'Deployment', name: 'd' } }), [
      'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ]],
    ['a target without a name', draft({ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'a/b' } }), [
      'spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\'',
      'spec.scaleTargetRef.name: Required value',
    ]],
    ['a negative maximum', draft({ maxReplicas: -1 }), [
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
      'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
    ]],
    ['a minimum of 0', draft({ minReplicas: 0 }), [
      'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
      'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
    ]],
    ['a metric of a type without its source', metric({ type: 'Pods' }), [
      'spec.metrics[0].pods: Required value: must populate information for the given metric source',
    ]],
    ['a metric with two sources', metric({ ...cpu(50), pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '1' } } }), [
      'spec.metrics[0].pods: Forbidden: must populate the given metric source only',
    ]],
    ['a target without a value', metric({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }), [
      'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
    ]],
    ['an external metric with both targets', metric({ type: 'External', external: { metric: { name: 'e' }, target: { type: 'Value', value: '1', averageValue: '0' } } }), [
      'spec.metrics[0].external.target.averageValue: Invalid value: "0": must be positive',
      'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
    ]],
    ['a container without a name', metric({ type: 'ContainerResource', containerResource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } }), [
      'spec.metrics[0].containerResource.container: Required value: must specify a container',
    ]],
    ['no policies', draft({ behavior: { scaleUp: { policies: null } } }), ['spec.behavior.scaleUp.policies: Required value: must specify at least one Policy']],
    ['bad policies', draft({ behavior: { scaleUp: { policies: [{ type: 'Nodes', value: 0, periodSeconds: 1801 }], stabilizationWindowSeconds: 3601 } } }), [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
      'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
    ]],
  ])('says of %s: %j', (_, obj, refusals) => {
    expect(trial.refusals(obj)).toEqual(refusals)
  })

  it.each([
    ['nothing measured yet', undefined, 'cpu: <unknown>/50%, <unknown>/10 + 1 more...'],
    ['CPU measured', [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 30, averageValue: '1' } } }], 'cpu: 30%/50%, <unknown>/10 + 1 more...'],
  ])('is shown with its targets, %s', (_, currentMetrics, text) => {
    const metrics = [
      cpu(50),
      { type: 'Object', object: { describedObject: { kind: 'Service', name: 's' }, metric: { name: 'r' }, target: { type: 'Value', value: '10' } } },
      { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '1k' } } },
    ]
    const obj = { ...trial.created(draft({ metrics, minReplicas: 2 })), status: { currentReplicas: 2, currentMetrics } }
    expect(trial.cells(obj)).toMatchObject({ Reference: 'Deployment/d', Targets: text, MinPods: '2', MaxPods: 3, Replicas: 2 })
  })
})

describe('horizontalpodautoscalers of v1', () => {
  it('is v2 with CPU at 80 % where nothing is said', () => {
    const stored = toStored(trialV1.created(draft())) as unknown as { apiVersion: string; spec: object }
    expect(stored.apiVersion).toBe('autoscaling/v2')
    expect(stored.spec).toMatchObject({ minReplicas: 1, maxReplicas: 3, metrics: [cpu(80)] })
  })

  it('refuses what v2 refuses, in the words of v2', () => {
    expect(trialV1.refusals(draft({ targetCPUUtilizationPercentage: 0 }))).toEqual([
      'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
    ])
  })

  it('carries other metrics in an annotation', () => {
    const text = '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"64Mi"}}]'
    const obj = trialV1.created(draft({}, { annotations: { [`${prefix}metrics`]: text, own: '1' } }))
    const stored = toStored(obj) as unknown as { metadata: { annotations: object }; spec: { metrics: object[] } }
    expect(stored.metadata.annotations).toEqual({ own: '1' })
    expect(stored.spec.metrics).toMatchObject([{ type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '64Mi' } } }])
    expect(fromStored(stored as unknown as KubeObject).metadata.annotations).toEqual({ [`${prefix}metrics`]: text, own: '1' })
  })

  it('refuses an annotation that cannot be read', () => {
    expect(() => trialV1.created(draft({}, { annotations: { [`${prefix}metrics`]: '{' } }))).toThrow(/cannot be handled as a HorizontalPodAutoscaler/)
  })

  it('goes to v1 and back without a loss', () => {
    const metrics = [
      cpu(50),
      { type: 'Pods', pods: { metric: { name: 'q', selector: { matchLabels: { a: 'b' } } }, target: { type: 'AverageValue', averageValue: '1k' } } },
      { type: 'External', external: { metric: { name: 'e' }, target: { type: 'Value', value: '5' } } },
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 5 } } },
    ]
    const behavior = { scaleUp: { tolerance: '50m' } }
    const obj = trial.created(draft({ metrics, behavior }))
    const status = { currentReplicas: 2, desiredReplicas: 3, currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 30, averageValue: '1' } } }] }
    const back = toStored(fromStored({ ...obj, status })) as unknown as { spec: { metrics: object[]; behavior: object }; status: object }
    expect(back.spec.behavior).toEqual(obj.spec.behavior)
    expect(back.spec.metrics).toHaveLength(4)
    expect(back.spec.metrics).toEqual(expect.arrayContaining(metrics.map((m) => expect.objectContaining({ type: m.type }))))
    expect(back.status).toMatchObject(status)
  })

  it('keeps spec and status apart in the annotations, too', () => {
    const metrics = { [`${prefix}metrics`]: '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"64Mi"}}]' }
    const conditions = { [`${prefix}conditions`]: '[{"type":"AbleToScale","status":"True"}]' }
    const old = { ...trialV1.created(draft({}, { annotations: metrics })) }
    old.metadata.annotations = { ...metrics, ...conditions }
    expect(trialV1.updated(old, draft({}, { annotations: undefined })).metadata.annotations).toEqual(conditions)
    const obj = { ...old, metadata: { ...old.metadata, annotations: undefined } }
    horizontalpodautoscalersV1.status!.prepare(obj, old, undefined as never)
    expect(obj.metadata.annotations).toEqual(metrics)
  })
})
