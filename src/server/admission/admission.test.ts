import { describe, expect, it } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { newestClass } from '../../api/kinds/volumes/storage-classes.ts'
import type { KubeObject } from '../../api/object.ts'
import { bootstrapObjects } from '../upkeep/bootstrap-objects.ts'
import type { ObjectReader } from '../objects/objects.ts'
import type { Resource } from '../registry/resource.ts'
import type { AdmissionOperation, AdmissionRequest } from './admission.ts'
import { admissionPlugins } from './index.ts'
import { mergeTolerations } from './placement/merge-tolerations.ts'
import { base64, sampleRequest } from '../../api/x509/sample-request.ts'

type Stored = Record<string, any[]>

const readerOf = (stored: Stored): ObjectReader => ({
  get: (_group, plural, _namespace, name) => stored[plural]?.find((obj: KubeObject) => obj.metadata.name === name),
  list: (_group, plural) => (stored[plural] ?? []) as never[],
})

const groups: Record<string, string> = {
  certificatesigningrequests: 'certificates.k8s.io',
  ingresses: 'networking.k8s.io',
  priorityclasses: 'scheduling.k8s.io',
  volumeattributesclasses: 'storage.k8s.io',
}
const clusterWide = ['certificatesigningrequests', 'namespaces', 'nodes', 'persistentvolumes', 'priorityclasses', 'volumeattributesclasses']
const home = { metadata: { name: 'ns' }, status: { phase: 'Active' } }

/** Runs a request through every plugin, as the server does. */
function pass(plural: string, object: any, stored: Stored = {}, options: { operation?: AdmissionOperation; old?: any; subresource?: string } = {}): any {
  const { operation = 'CREATE', old, subresource = '' } = options
  const request: AdmissionRequest = {
    operation,
    resource: { group: groups[plural] ?? '', plural, namespaced: !clusterWide.includes(plural) } as Resource,
    subresource,
    namespace: clusterWide.includes(plural) ? '' : 'ns',
    name: (object ?? old).metadata.name ?? '',
    object: operation === 'DELETE' ? undefined : object,
    old,
    user: { name: 'u', groups: [] },
    dryRun: false,
    warnings: [],
    reader: readerOf({ namespaces: [home], ...stored }),
    now: 0,
  }
  for (const plugin of admissionPlugins) plugin.admit?.(request)
  for (const plugin of admissionPlugins) plugin.validate?.(request)
  return object
}

function refusalOf(run: () => void): string {
  try {
    run()
  } catch (e) {
    if (e instanceof ApiError) return `${e.code} ${e.message}`
    throw e
  }
  return ''
}

const pod = (spec: object = {}) => ({ metadata: { name: 'p' }, spec })

describe('NamespaceLifecycle', () => {
  const object = () => ({ metadata: { name: 'x' } })
  const ending = { namespaces: [{ metadata: { name: 'ns' }, status: { phase: 'Terminating' } }] }

  it.each<[string, () => void, string]>([
    ['create in a living namespace', () => pass('configmaps', object()), ''],
    ['create in a missing namespace', () => pass('configmaps', object(), { namespaces: [] }), '404 namespaces "ns" not found'],
    ['update in a missing namespace', () => pass('configmaps', object(), { namespaces: [] }, { operation: 'UPDATE', old: object() }), '404 namespaces "ns" not found'],
    ['create in an ending namespace', () => pass('configmaps', object(), ending),
      '403 configmaps "x" is forbidden: unable to create new content in namespace ns because it is being terminated'],
    ['update in an ending namespace', () => pass('configmaps', object(), ending, { operation: 'UPDATE', old: object() }), ''],
    ['delete in a missing namespace', () => pass('configmaps', undefined, { namespaces: [] }, { operation: 'DELETE', old: object() }), ''],
    ['create outside of namespaces', () => pass('nodes', { metadata: { name: 'n' }, spec: {} }, { namespaces: [] }), ''],
    ['delete an ordinary namespace', () => pass('namespaces', undefined, {}, { operation: 'DELETE', old: object() }), ''],
    ...['default', 'kube-system', 'kube-public'].map((name): [string, () => void, string] => [
      `delete ${name}`,
      () => pass('namespaces', undefined, {}, { operation: 'DELETE', old: { metadata: { name } } }),
      `403 namespaces "${name}" is forbidden: this namespace may not be deleted`,
    ]),
  ])('%s', (_, run, refusal) => {
    expect(refusalOf(run)).toBe(refusal)
  })

  it('says by its cause that the namespace is ending', () => {
    expect(() => pass('configmaps', object(), ending)).toThrow(
      expect.objectContaining({
        details: { kind: 'configmaps', name: 'x', causes: [{ reason: 'NamespaceTerminating', message: 'namespace ns is being terminated', field: 'metadata.namespace' }] },
      }),
    )
  })

  it('calls an object without a name by the start of it', () => {
    expect(refusalOf(() => pass('configmaps', { metadata: { generateName: 'x-' } }, ending))).toContain('configmaps "x-" is forbidden')
  })
})

describe('Priority', () => {
  const high = { metadata: { name: 'high' }, value: 77, preemptionPolicy: 'Never' }
  const low = { metadata: { name: 'low' }, value: 5, preemptionPolicy: 'PreemptLowerPriority', globalDefault: true }
  const must = 'must not be provided in pod spec; priority admission controller computed'

  it.each<[string, object, any[], object]>([
    ['no class', {}, [], { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
    ['a class', { priorityClassName: 'high' }, [high], { priority: 77, preemptionPolicy: 'Never' }],
    ['the default class', {}, [high, low], { priority: 5, priorityClassName: 'low' }],
    ['of two default classes the lower', {}, [{ ...high, globalDefault: true }, low], { priority: 5 }],
    ['the same priority given', { priorityClassName: 'high', priority: 77 }, [high], { priority: 77 }],
  ])('gives %s', (_, spec, priorityclasses, expected) => {
    expect(pass('pods', pod(spec), { priorityclasses }).spec).toMatchObject(expected)
  })

  it.each<[string, object, string]>([
    ['an unknown class', { priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
    ['another priority', { priorityClassName: 'high', priority: 5 }, `the integer value of priority (5) ${must} 77 from the given PriorityClass name`],
    ['another policy', { preemptionPolicy: 'Never' }, `the string value of PreemptionPolicy (Never) ${must} PreemptLowerPriority from the given PriorityClass name`],
  ])('refuses %s', (_, spec, why) => {
    expect(refusalOf(() => pass('pods', pod(spec), { priorityclasses: [high] }))).toBe(`403 pods "p" is forbidden: ${why}`)
  })

  it('keeps on update what was given on create', () => {
    const old = pod({ priority: 7, preemptionPolicy: 'Never' })
    expect(pass('pods', pod(), {}, { operation: 'UPDATE', old }).spec).toMatchObject({ priority: 7, preemptionPolicy: 'Never' })
  })

  it('lets there be one default class', () => {
    const second = { metadata: { name: 'second' }, value: 1, globalDefault: true }
    expect(refusalOf(() => pass('priorityclasses', second, { priorityclasses: [low] }))).toBe(
      '403 priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass low is already marked as default. Only one default can exist',
    )
    expect(refusalOf(() => pass('priorityclasses', low, { priorityclasses: [low] }, { operation: 'UPDATE', old: low }))).toBe('')
  })

  it('keeps the classes of the system', () => {
    const old = { metadata: { name: 'system-node-critical' } }
    expect(refusalOf(() => pass('priorityclasses', undefined, {}, { operation: 'DELETE', old }))).toContain('this is a system priority class and cannot be deleted')
  })
})

describe('DefaultTolerationSeconds', () => {
  const added = (name: string) => ({ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
  it.each<[string, object[], object[]]>([
    ['both to a pod without any', [], [added('not-ready'), added('unreachable')]],
    ['the one that is missing', [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }], [added('unreachable')]],
    ['none to a pod that tolerates everything', [{ operator: 'Exists' }], []],
    ['both beside a toleration with another effect', [{ operator: 'Exists', effect: 'NoSchedule' }], [added('not-ready'), added('unreachable')]],
  ])('adds %s', (_, tolerations, more) => {
    expect(pass('pods', pod({ tolerations })).spec.tolerations).toEqual([...tolerations, ...more])
  })

  it('leaves subresources alone', () => {
    expect(pass('pods', pod(), {}, { operation: 'UPDATE', old: pod(), subresource: 'status' }).spec).toEqual({})
  })
})

describe('TaintNodesByCondition', () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  it.each<[string, object[] | undefined, object[]]>([
    ['a node without taints', undefined, [taint]],
    ['a node with others', [{ key: 'k', effect: 'NoExecute' }], [{ key: 'k', effect: 'NoExecute' }, taint]],
    ['a node that has it', [taint], [taint]],
  ])('taints %s', (_, taints, expected) => {
    expect(pass('nodes', { metadata: { name: 'n' }, spec: { taints } }).spec.taints).toEqual(expected)
  })

  it('does not taint a node again', () => {
    const node = { metadata: { name: 'n' }, spec: {} }
    expect(pass('nodes', node, {}, { operation: 'UPDATE', old: node }).spec).toEqual({})
  })
})

describe('StorageObjectInUseProtection', () => {
  it.each([
    ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
    ['persistentvolumes', 'kubernetes.io/pv-protection'],
    ['volumeattributesclasses', 'kubernetes.io/vac-protection'],
  ])('protects %s', (plural, finalizer) => {
    const make = (finalizers?: string[]) => pass(plural, { metadata: { name: 'x', finalizers }, spec: { resources: {} } }).metadata.finalizers
    expect(make()).toEqual([finalizer])
    expect(make(['example.com/f'])).toEqual(['example.com/f', finalizer])
    expect(make([finalizer])).toEqual([finalizer])
  })
})

describe('DefaultStorageClass and DefaultIngressClass', () => {
  const marked = (name: string, annotation: string, creationTimestamp: string) => ({ metadata: { name, creationTimestamp, annotations: { [annotation]: 'true' } } })
  const storageclasses = [
    marked('old', 'storageclass.kubernetes.io/is-default-class', '2020-01-01T00:00:00Z'),
    marked('new', 'storageclass.beta.kubernetes.io/is-default-class', '2021-01-01T00:00:00Z'),
    { metadata: { name: 'other', creationTimestamp: '2022-01-01T00:00:00Z' } },
  ]
  const ingressclasses = [marked('edge', 'ingressclass.kubernetes.io/is-default-class', '2020-01-01T00:00:00Z')]

  it.each<[string, object, object, string | undefined]>([
    ['fills in the newest default', {}, {}, 'new'],
    ['leaves "" alone', {}, { storageClassName: '' }, ''],
    ['leaves the annotation of old alone', { annotations: { 'volume.beta.kubernetes.io/storage-class': 'a' } }, {}, undefined],
  ])('storage: %s', (_, meta, spec, name) => {
    const claim = { metadata: { name: 'c', ...meta }, spec: { resources: {}, ...spec } }
    expect(pass('persistentvolumeclaims', claim, { storageclasses }).spec.storageClassName).toBe(name)
  })

  it.each<[string, object, object, string | undefined]>([
    ['fills in the default', {}, {}, 'edge'],
    ['leaves a class alone', {}, { ingressClassName: 'a' }, 'a'],
    ['leaves the annotation of old alone', { annotations: { 'kubernetes.io/ingress.class': 'a' } }, {}, undefined],
  ])('ingress: %s', (_, meta, spec, name) => {
    expect(pass('ingresses', { metadata: { name: 'i', ...meta }, spec }, { ingressclasses }).spec.ingressClassName).toBe(name)
  })
})

describe('newestClass()', () => {
  const named = (name: string, creationTimestamp: string) => ({ metadata: { name, creationTimestamp } })
  it.each([
    ['the newest', [named('a', '2020-01-01T00:00:00Z'), named('b', '2021-01-01T00:00:00Z')], 'b'],
    ['of two of one second the first by name', [named('b', '2020-01-01T00:00:00Z'), named('a', '2020-01-01T00:00:00Z')], 'a'],
    ['none of none', [], undefined],
  ])('chooses %s', (_, classes, name) => {
    expect(newestClass(classes)?.metadata.name).toBe(name)
  })
})

describe('RuntimeClass', () => {
  const runtimeclasses = [
    { metadata: { name: 'rc' }, handler: 'h', overhead: { podFixed: { cpu: '250m' } }, scheduling: { nodeSelector: { r: 'c' }, tolerations: [{ key: 'r', operator: 'Exists' }] } },
    { metadata: { name: 'bare' }, handler: 'h' },
  ]

  it('writes overhead and scheduling into the pod', () => {
    const { spec } = pass('pods', pod({ runtimeClassName: 'rc', nodeSelector: { a: 'b' } }), { runtimeclasses })
    expect(spec).toMatchObject({ overhead: { cpu: '250m' }, nodeSelector: { a: 'b', r: 'c' } })
    expect(spec.tolerations.at(-1)).toEqual({ key: 'r', operator: 'Exists' })
  })

  it.each<[string, object, string]>([
    ['an unknown class', { runtimeClassName: 'A_' }, 'pod rejected: RuntimeClass "A_" not found'],
    ['another overhead', { runtimeClassName: 'rc', overhead: { cpu: '1' } }, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"],
    ['the same overhead in other words', { runtimeClassName: 'rc', overhead: { cpu: '0.25' } }, ''],
    ['an overhead of nobody', { overhead: { cpu: '1' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    ['an overhead of a class without', { runtimeClassName: 'bare', overhead: { cpu: '1' } }, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'],
    ['a selector that disagrees', { runtimeClassName: 'rc', nodeSelector: { r: 'z' } }, 'conflict: runtimeClass.scheduling.nodeSelector[r] = c; pod.spec.nodeSelector[r] = z'],
  ])('says of %s', (_, spec, why) => {
    expect(refusalOf(() => pass('pods', pod(spec), { runtimeclasses }))).toBe(why && `403 pods "p" is forbidden: ${why}`)
  })
})

describe('mergeTolerations()', () => {
  const exists = { key: 'a', operator: 'Exists' }
  const equal = { key: 'a', operator: 'Equal', value: 'v' }
  it.each([
    ['keeps what differs', [exists], [{ key: 'b', operator: 'Exists' }], [exists, { key: 'b', operator: 'Exists' }]],
    ['keeps one of two that are equal', [exists], [exists], [exists]],
    ['drops what another one covers', [equal], [exists], [exists]],
    ['lets a toleration of everything cover all', [equal, exists], [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
    ['keeps a longer toleration', [{ ...exists, effect: 'NoExecute', tolerationSeconds: 9 }], [{ ...exists, effect: 'NoExecute', tolerationSeconds: 5 }], [
      { ...exists, effect: 'NoExecute', tolerationSeconds: 9 },
    ]],
  ])('%s', (_, first, second, merged) => {
    expect(mergeTolerations(first, second)).toEqual(merged)
  })
})

describe('PersistentVolumeClaimResize', () => {
  const claim = (storage: string, phase = 'Bound', storageClassName = 'sc') => ({
    metadata: { name: 'c' }, spec: { resources: { requests: { storage } }, storageClassName }, status: { phase },
  })
  const dynamic = 'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'
  it.each([
    ['growth of a class that may', claim('2Gi'), claim('1Gi'), true, ''],
    ['growth of a class that may not', claim('2Gi'), claim('1Gi'), false, dynamic],
    ['growth without a class', claim('2Gi', 'Bound', ''), claim('1Gi', 'Bound', ''), true, dynamic],
    ['growth while pending', claim('2Gi', 'Pending'), claim('1Gi', 'Pending'), true, 'Only bound persistent volume claims can be expanded'],
    ['shrinking', claim('1Gi'), claim('2Gi'), false, ''],
  ])('judges %s', (_, object, old, allowVolumeExpansion, why) => {
    const run = () => pass('persistentvolumeclaims', object, { storageclasses: [{ metadata: { name: 'sc' }, allowVolumeExpansion }] }, { operation: 'UPDATE', old })
    expect(refusalOf(run)).toBe(why && `403 persistentvolumeclaims "c" is forbidden: ${why}`)
  })
})

describe('PodTopologyLabels', () => {
  const nodes = [{ metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z', other: 'o' } } }]
  it.each<[string, object, object | undefined]>([
    ['a pod made for a node', { nodeName: 'n' }, { 'topology.kubernetes.io/zone': 'z' }],
    ['a pod made for a node that is not there', { nodeName: 'm' }, undefined],
    ['a pod for no node', {}, undefined],
  ])('labels %s', (_, spec, labels) => {
    expect(pass('pods', pod(spec), { nodes }).metadata.labels).toEqual(labels)
  })
})

describe('bootstrapObjects', () => {
  it('are the namespaces, the classes of the system, the range of addresses and the service of this server', () => {
    const named = bootstrapObjects().filter(({ apiVersion }) => !apiVersion?.startsWith('flowcontrol.'))
    expect(named.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([
      'Namespace/default', 'Namespace/kube-system', 'Namespace/kube-public', 'Namespace/kube-node-lease', 'PriorityClass/system-node-critical',
      'PriorityClass/system-cluster-critical', 'ServiceCIDR/kubernetes', 'Service/kubernetes',
    ])
  })
})

describe('certificate signing requests', () => {
  const csr = (signerName: string, organizations: string[], more: object = {}) => ({
    metadata: { name: 'x' },
    spec: { request: base64(sampleRequest({ organizations }).request), signerName, usages: ['client auth'], ...more },
  })

  it.each([
    ['kubernetes.io/kube-apiserver-client', ['system:masters'], /^403 .* signer with system:masters group is not allowed$/],
    ['kubernetes.io/kube-apiserver-client', ['crew'], /^$/],
    ['example.com/x', ['system:masters'], /^$/],
  ])('to %s for %s', (signer, organizations, refused) => {
    expect(refusalOf(() => pass('certificatesigningrequests', csr(signer, organizations)))).toMatch(refused)
  })
})
