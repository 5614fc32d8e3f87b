// Measures the decoding of a body with a pod of about 3.7 KB. Prints one JSON line per figure.
import { cloneObject, parseJson } from '../src/api/json/index.ts'
import { decodeObject } from '../src/api/schema/index.ts'

const probe = (path: string) => ({ httpGet: { path, port: 8080, scheme: 'HTTP' }, initialDelaySeconds: 5, periodSeconds: 10, failureThreshold: 3 })
const container = (name: string) => ({
  name,
  image: `registry.example.com/team/${name}:1.25.3`,
  args: ['--listen=:8080', '--log-level=info'],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }, { name: 'metrics', containerPort: 9090, protocol: 'TCP' }],
  env: [{ name: 'MODE', value: 'production' }, { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }, { name: 'data', mountPath: '/data' }],
  livenessProbe: probe('/livez'),
  readinessProbe: probe('/readyz'),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
})
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-5d8f7c9b4-x2x7k',
    generateName: 'web-5d8f7c9b4-',
    namespace: 'production',
    labels: { app: 'web', tier: 'frontend', 'pod-template-hash': '5d8f7c9b4' },
    annotations: { 'example.com/checksum': '0f343b0931126a20f133d67c2b018a3b', 'example.com/owner': 'team-a' },
    ownerReferences: [
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d8f7c9b4', uid: '6f3f1f0a-7b1e-4c1b-9a53-0a6f6c7c9f10', controller: true, blockOwnerDeletion: true },
    ],
  },
  spec: {
    volumes: [{ name: 'config', configMap: { name: 'web', defaultMode: 420 } }, { name: 'data', emptyDir: {} }],
    containers: [container('web'), container('sidecar')],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'web',
    securityContext: { fsGroup: 2000, seccompProfile: { type: 'RuntimeDefault' } },
    schedulerName: 'default-scheduler',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
  },
  status: { phase: 'Pending', qosClass: 'Burstable' },
}
const text = JSON.stringify(pod)

/** The median over rounds, in microseconds a call. */
function measure(figure: string, run: () => unknown) {
  const rounds: number[] = []
  const perRound = 2000
  for (let round = 0; round < 15; round++) {
    const start = process.hrtime.bigint()
    for (let i = 0; i < perRound; i++) run()
    rounds.push(Number(process.hrtime.bigint() - start) / 1000 / perRound)
  }
  rounds.sort((a, b) => a - b)
  console.log(JSON.stringify({ bench: 'decode', figure, value: Number(rounds[7]!.toFixed(2)), unit: 'µs', bytes: text.length }))
}

const parsed = parseJson(text)
measure('JSON.parse alone', () => JSON.parse(text))
measure('parseJson', () => parseJson(text))
measure('decodeObject', () => decodeObject('Pod', parsed.value, { text, hasFractions: parsed.hasFractions }))
measure('parse and decode', () => {
  const { value, duplicates, hasFractions } = parseJson(text)
  return decodeObject('Pod', value, { text, duplicates, hasFractions })
})
measure('cloneObject', () => cloneObject(pod))
measure('JSON.stringify', () => JSON.stringify(pod))
