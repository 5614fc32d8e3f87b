import { describe, expect, it } from 'vitest'
import { useCluster, useControllers } from '../kubectl/cluster.ts'

const cluster = useCluster()
useControllers(cluster, ['--leader-elect=false', '--controllers', 'daemonset-controller,statefulset-controller'])

const labels = { app: 'rich' }

const fieldRef = { fieldPath: 'metadata.name' }
const volumeAttributes = { z: '1', 10: 'ten', 9: 'nine', é: 'e', '𐀀': 'astral', '\uffee': 'late' }

/** A template with all that one JSON encoder may write in another way than the next. */
const template = {
  spec: {
    volumes: [
      { name: 'plug', csi: { driver: 'd.example', volumeAttributes } },
      { name: 'empty', emptyDir: {} },
      { name: 'conf', configMap: { name: 'c', items: [{ path: 'p', key: 'k', mode: 0 }] } },
    ],
    nodeSelector: { zone: 'a', 10: 'x', 2: 'y', disk: 'ssd' },
    tolerations: [{ operator: 'Exists' }, { key: 'k', effect: 'NoExecute', tolerationSeconds: 0 }],
    securityContext: { runAsUser: 2147483647, sysctls: [] },
    affinity: { podAntiAffinity: {}, nodeAffinity: {} },
    hostAliases: [{ ip: '10.0.0.1', hostnames: ['b', 'a'] }],
    containers: [
      {
        name: 'main',
        image: 'app:1',
        command: ['sh', '-c', 'test 1 < 2 && echo "<a href=\'x\'>&amp;</a>" > /dev/null'],
        args: ['tab\tline\nslash\\quote"', 'bell\u0007 del\u007f back\b feed\f', 'line\u2028paragraph\u2029', 'ünï 🚢'],
        env: [{ name: 'EMPTY' }, { name: 'A', value: '' }, { name: 'B', valueFrom: { fieldRef } }],
        ports: [{ containerPort: 8080 }, { name: 'udp', protocol: 'UDP', containerPort: 53 }],
        resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { memory: 1073741824, cpu: 1 } },
        readinessProbe: { httpGet: { port: 'http', path: '/?a=1&b=<2>' }, periodSeconds: 0 },
        volumeMounts: [{ name: 'empty', mountPath: '/e', readOnly: false }],
        securityContext: {},
      },
    ],
    initContainers: [{ name: 'side', image: 'side', restartPolicy: 'Always' }],
  },
  metadata: {
    labels: { ...labels, 7: 'seven', 10: 'ten' },
    annotations: { z: '<b>&</b>', a: '{"json": "in json"}', 1: 'one' },
  },
}

const manifest = (kind: string, more: object, own: object = template) => {
  const spec = { selector: { matchLabels: labels }, template: own, ...more }
  return JSON.stringify({ apiVersion: 'apps/v1', kind, metadata: { name: 'rich' }, spec })
}

// kubectl makes the bytes of the present template by the same Go code as Kubernetes' controllers, and compares them
// with those that are stored.
describe.each([
  ['DaemonSet', 'ds', {}],
  ['StatefulSet', 'sts', { serviceName: 'rich', replicas: 0 }],
])('kubectl finds the revision of a %s by its bytes', (kind, short, more) => {
  const own = `.items[?(@.metadata.ownerReferences[0].kind=="${kind}")]`
  const history = () => cluster.kubectl.ok(`get controllerrevisions -o jsonpath='{range ${own}}{.revision} {end}'`)
  const isCurrent = (revision: number) => cluster.kubectl.ok(`rollout undo ${short}/rich --to-revision=${revision}`)

  it('as it was made, with every sort of text, number and map', async () => {
    await cluster.kubectl.ok('create -f -', manifest(kind, more))
    await expect.poll(history, { timeout: 40_000 }).toBe('1 ')
    expect(await isCurrent(1)).toContain('skipped rollback (current template already matches revision 1)')
  })

  it('after it became the newest again', async () => {
    const other = { ...template, metadata: { labels } }
    await cluster.kubectl.ok('replace -f -', manifest(kind, more, other))
    await expect.poll(history, { timeout: 40_000 }).toMatch(/^(1 2|2 1) $/)
    expect(await isCurrent(2)).toContain('skipped rollback')
    expect(await isCurrent(1)).toContain('rolled back')
    await expect.poll(history, { timeout: 40_000 }).toMatch(/^(2 3|3 2) $/)
    expect(await isCurrent(3)).toContain('skipped rollback (current template already matches revision 3)')
  })
})
