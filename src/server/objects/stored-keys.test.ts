import { describe, expect, it } from 'vitest'
import { pathSegmentName } from '../../api/validation/names.ts'
import { systemRandom } from '../../base/random.ts'
import { Registry } from '../registry/registry.ts'
import { defineResource } from '../registry/resource.ts'
import { allResources } from '../resources/index.ts'
import { assertSeparate, findByKey, keyPrefix } from './stored-keys.ts'

/** The keys of kube-apiserver 1.36 in etcd, by group, written out, so that the test does not depend on our rules. */
const kubernetes: Record<string, Record<string, string>> = {
  '': {
    configmaps: '/registry/configmaps/',
    endpoints: '/registry/services/endpoints/',
    events: '/registry/events/',
    limitranges: '/registry/limitranges/',
    namespaces: '/registry/namespaces/',
    nodes: '/registry/minions/',
    persistentvolumeclaims: '/registry/persistentvolumeclaims/',
    persistentvolumes: '/registry/persistentvolumes/',
    pods: '/registry/pods/',
    podtemplates: '/registry/podtemplates/',
    replicationcontrollers: '/registry/controllers/',
    resourcequotas: '/registry/resourcequotas/',
    secrets: '/registry/secrets/',
    serviceaccounts: '/registry/serviceaccounts/',
    services: '/registry/services/specs/',
  },
  'admissionregistration.k8s.io': {
    mutatingadmissionpolicies: '/registry/mutatingadmissionpolicies/',
    mutatingadmissionpolicybindings: '/registry/mutatingadmissionpolicybindings/',
    mutatingwebhookconfigurations: '/registry/mutatingwebhookconfigurations/',
    validatingadmissionpolicies: '/registry/validatingadmissionpolicies/',
    validatingadmissionpolicybindings: '/registry/validatingadmissionpolicybindings/',
    validatingwebhookconfigurations: '/registry/validatingwebhookconfigurations/',
  },
  'apiextensions.k8s.io': { customresourcedefinitions: '/registry/apiextensions.k8s.io/customresourcedefinitions/' },
  'apiregistration.k8s.io': { apiservices: '/registry/apiregistration.k8s.io/apiservices/' },
  apps: {
    controllerrevisions: '/registry/controllerrevisions/',
    daemonsets: '/registry/daemonsets/',
    deployments: '/registry/deployments/',
    replicasets: '/registry/replicasets/',
    statefulsets: '/registry/statefulsets/',
  },
  autoscaling: { horizontalpodautoscalers: '/registry/horizontalpodautoscalers/' },
  batch: { cronjobs: '/registry/cronjobs/', jobs: '/registry/jobs/' },
  'certificates.k8s.io': {
    certificatesigningrequests: '/registry/certificatesigningrequests/',
    clustertrustbundles: '/registry/clustertrustbundles/',
    podcertificaterequests: '/registry/podcertificaterequests/',
  },
  'coordination.k8s.io': { leasecandidates: '/registry/leasecandidates/', leases: '/registry/leases/' },
  'discovery.k8s.io': { endpointslices: '/registry/endpointslices/' },
  'events.k8s.io': { events: '/registry/events/' },
  'flowcontrol.apiserver.k8s.io': {
    flowschemas: '/registry/flowschemas/',
    prioritylevelconfigurations: '/registry/prioritylevelconfigurations/',
  },
  'internal.apiserver.k8s.io': { storageversions: '/registry/storageversions/' },
  'networking.k8s.io': {
    ingressclasses: '/registry/ingressclasses/',
    ingresses: '/registry/ingress/',
    ipaddresses: '/registry/ipaddresses/',
    networkpolicies: '/registry/networkpolicies/',
    servicecidrs: '/registry/servicecidrs/',
  },
  'node.k8s.io': { runtimeclasses: '/registry/runtimeclasses/' },
  policy: { poddisruptionbudgets: '/registry/poddisruptionbudgets/' },
  'rbac.authorization.k8s.io': {
    clusterrolebindings: '/registry/clusterrolebindings/',
    clusterroles: '/registry/clusterroles/',
    rolebindings: '/registry/rolebindings/',
    roles: '/registry/roles/',
  },
  'resource.k8s.io': {
    deviceclasses: '/registry/deviceclasses/',
    devicetaintrules: '/registry/devicetaintrules/',
    resourceclaims: '/registry/resourceclaims/',
    resourceclaimtemplates: '/registry/resourceclaimtemplates/',
    resourcepoolstatusrequests: '/registry/resourcepoolstatusrequests/',
    resourceslices: '/registry/resourceslices/',
  },
  'scheduling.k8s.io': {
    podgroups: '/registry/podgroups/',
    priorityclasses: '/registry/priorityclasses/',
    workloads: '/registry/workloads/',
  },
  'storage.k8s.io': {
    csidrivers: '/registry/csidrivers/',
    csinodes: '/registry/csinodes/',
    csistoragecapacities: '/registry/csistoragecapacities/',
    storageclasses: '/registry/storageclasses/',
    volumeattachments: '/registry/volumeattachments/',
    volumeattributesclasses: '/registry/volumeattributesclasses/',
  },
  'storagemigration.k8s.io': { storageversionmigrations: '/registry/storageversionmigrations/' },
}

const rules = { nameRule: pathSegmentName, validate: () => [], validateUpdate: () => [] }
const plain = { version: 'v1', namespaced: true, ...rules }
const kind = (group: string, plural: string) => defineResource({ ...plain, group, plural, kind: 'Thing' })

describe('keyPrefix()', () => {
  const rows = Object.entries(kubernetes).flatMap(([group, kinds]) =>
    Object.entries(kinds).map(([plural, prefix]) => ({ group, plural, prefix })),
  )
  it.each(rows)('is $prefix for $plural of group "$group", as in Kubernetes', ({ group, plural, prefix }) => {
    expect(keyPrefix(group, plural)).toBe(prefix)
  })

  it.each([
    {
      what: 'a kind of ours',
      group: 'apps.kruise.io', plural: 'clonesets', prefix: '/registry/apps.kruise.io/clonesets/',
    },
    { what: 'a custom kind', group: 'example.com', plural: 'widgets', prefix: '/registry/example.com/widgets/' },
    {
      what: "a custom kind with the name of one of Kubernetes'",
      group: 'example.com', plural: 'services', prefix: '/registry/example.com/services/',
    },
    {
      what: "a custom kind in a group of Kubernetes'",
      group: 'networking.k8s.io', plural: 'gateways', prefix: '/registry/networking.k8s.io/gateways/',
    },
    {
      what: 'a group named like a member of Object',
      group: 'constructor', plural: 'name', prefix: '/registry/constructor/name/',
    },
  ])('has the group for $what', ({ group, plural, prefix }) => {
    expect(keyPrefix(group, plural)).toBe(prefix)
  })

  it('is written out above for every kind of a Kubernetes group that is served', () => {
    const served = allResources(systemRandom).filter(({ group }) => Object.hasOwn(kubernetes, group))
    const unknown = served.filter(({ group, plural }) => !Object.hasOwn(kubernetes[group]!, plural))
    expect(unknown.map(({ group, plural }) => `${group}/${plural}`)).toEqual([])
    expect(served.length).toBeGreaterThan(40)
  })
})

describe('Registry and stored keys', () => {
  it('keeps all that is served apart', () => {
    expect(() => new Registry(allResources(systemRandom), [])).not.toThrow()
  })

  it("takes a custom `services` beside core's", () => {
    const registry = new Registry([kind('', 'services'), kind('example.com', 'services')], [])
    const prefixes = Array.from(registry.storages(), ({ prefix }) => prefix)
    expect(prefixes).toEqual(['/registry/services/specs/', '/registry/example.com/services/'])
  })

  it.each([
    {
      what: 'is that of another',
      one: kind('', 'services'),
      two: kind('services', 'specs'),
      text: 'specs.services (/registry/services/specs/) cannot be stored beside services (/registry/services/specs/)',
    },
    {
      what: 'lies inside that of another',
      one: kind('', 'widgets'),
      two: kind('widgets', 'blue'),
      text: 'blue.widgets (/registry/widgets/blue/) cannot be stored beside widgets (/registry/widgets/)',
    },
    {
      what: 'holds that of another',
      one: kind('widgets', 'blue'),
      two: kind('', 'widgets'),
      text: 'widgets (/registry/widgets/) cannot be stored beside blue.widgets (/registry/widgets/blue/)',
    },
  ])('refuses a kind whose prefix $what', ({ one, two, text }) => {
    expect(() => new Registry([one, two], [])).toThrow(text)
  })

  it('lets neighbours be whose names begin alike', () => {
    const place = (prefix: string) => ({ prefix, resource: { group: '', plural: 'x' } })
    expect(() => assertSeparate(place('/registry/ingress/'), [place('/registry/ingressclasses/')])).not.toThrow()
  })
})

describe('findByKey()', () => {
  const paths = ['pods', 'minions', 'services/specs', 'services/endpoints', 'example.com/services']
  const byPrefix = new Map(paths.map((path) => [`/registry/${path}/`, `/registry/${path}/`]))
  it.each<[key: string, prefix: string | undefined]>([
    ['/registry/pods/default/a', '/registry/pods/'],
    ['/registry/minions/n-1', '/registry/minions/'],
    ['/registry/services/specs/default/a', '/registry/services/specs/'],
    ['/registry/services/endpoints/default/a', '/registry/services/endpoints/'],
    ['/registry/example.com/services/default/a', '/registry/example.com/services/'],
    ['/registry/example.com/services/a', '/registry/example.com/services/'],
    ['/registry/services/default/a', undefined],
    ['/registry/example.com/widgets/a', undefined],
    ['/registry/other', undefined],
    ['/registry/', undefined],
  ])('finds the kind of %s', (key, prefix) => {
    expect(findByKey(byPrefix, key)).toBe(prefix)
  })
})
