import { expect, it } from 'vitest'
import { samplePod } from '../../sample-pod.ts'
import { hostsFile } from './hosts-file.ts'

const podWith = (spec: object) => ({ ...samplePod(), spec: { ...samplePod().spec, ...spec } })

it.each<[string, object, RegExp]>([
  ['has the pod itself', {}, /^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n[^]*\n10\.0\.0\.2\tboat\n$/],
  ['has its full name in a subdomain', { subdomain: 'crew' }, /\n10\.0\.0\.2\tboat\.crew\.\w+\.svc\.cluster\.local\tboat\n$/],
  ['has aliases', { hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] }, /\n\n# Entries added by HostAliases\.\n1\.2\.3\.4\ta\tb\n$/],
  ['is the host\'s with its network', { hostNetwork: true }, /^# Kubernetes-managed hosts file \(host network\)\.\n192\.0\.2\.1 machine\n$/],
])('hostsFile() %s', (_name, spec, expected) => {
  expect(hostsFile(podWith(spec), 'boat', ['10.0.0.2'], 'cluster.local', '192.0.2.1 machine\n')).toMatch(expected)
})
