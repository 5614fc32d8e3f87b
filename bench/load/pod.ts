const probe = (path: string, port: number) => ({ httpGet: { path, port, scheme: 'HTTP' }, initialDelaySeconds: 5, periodSeconds: 10, failureThreshold: 3 })
const container = (name: string, port: number) => ({
  name,
  image: `registry.example.com/team/${name}:1.25.3`,
  args: ['--listen=:8080', '--log-level=info'],
  ports: [{ name: `${name}-http`, containerPort: port, protocol: 'TCP' }, { name: `${name}-metrics`, containerPort: port + 1000, protocol: 'TCP' }],
  env: [{ name: 'MODE', value: 'production' }, { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }, { name: 'data', mountPath: '/data' }],
  livenessProbe: probe('/livez', port),
  readinessProbe: probe('/readyz', port),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
})
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d8f7c9b4', uid: '6f3f1f0a-7b1e-4c1b-9a53-0a6f6c7c9f10', controller: true, blockOwnerDeletion: true }
const spec = {
  volumes: [{ name: 'config', configMap: { name: 'web', defaultMode: 420 } }, { name: 'data', emptyDir: {} }],
  containers: [container('web', 8080), container('sidecar', 8081)],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: { fsGroup: 2000, seccompProfile: { type: 'RuntimeDefault' } },
  schedulerName: 'default-scheduler',
  tolerations: [
    { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
  ],
}
const annotations = {
  'example.com/checksum': '0f343b0931126a20f133d67c2b018a3b',
  'example.com/owner': 'team-a',
  'example.com/notes': 'a line as tools leave them in annotations; '.repeat(11).trim(),
}

const labels = { app: 'web', tier: 'frontend', 'pod-template-hash': '5d8f7c9b4' }

/** The text of a pod before its name and behind it. */
const aroundName = (more: object, ofSpec: object): [string, string] =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: '\0', labels, annotations, ...more },
    spec: { ...spec, ...ofSpec },
  }).split(JSON.stringify('\0').slice(1, -1)) as [string, string]

const [beforeName, behindName] = aroundName({ ownerReferences: [owner] }, {})
const [beforeLooseName, behindLooseName] = aroundName({}, { schedulerName: 'bench-nobody' })

/** A pod of two containers as text: made by hand, so that the load does not spend its time on it. */
export const podText = (name: string): string => beforeName + name + behindName

/** The same without an owner, and for a scheduler that nobody runs: no controller of a whole cluster touches it. */
export const loosePodText = (name: string): string => beforeLooseName + name + behindLooseName
