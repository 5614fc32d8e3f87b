import { describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { block, masked } from '../kubectl/masks.ts'

const cluster = useCluster()

/** An object without what the server adds of its own to every object. */
async function stored(reference: string): Promise<unknown> {
  const object = JSON.parse(await cluster.kubectl.ok(`get ${reference} -o json`)) as { metadata: Record<string, unknown> }
  for (const field of ['uid', 'resourceVersion', 'creationTimestamp']) delete object.metadata[field]
  return object
}

const meta = (name: string, more: object = {}) => ({ name, namespace: 'default', ...more })

// These commands send protobuf bodies.
describe('kubectl create', () => {
  it.each<[string, string, string, object]>([
    [
      'configmap settings --from-literal=colour=blue --from-literal=size=big',
      'configmap/settings',
      'configmap/settings',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('settings'), data: { colour: 'blue', size: 'big' } },
    ],
    [
      'secret generic login --from-literal=password=hunter2',
      'secret/login',
      'secret/login',
      { apiVersion: 'v1', kind: 'Secret', metadata: meta('login'), data: { password: 'aHVudGVyMg==' }, type: 'Opaque' },
    ],
    [
      'namespace shop',
      'namespace/shop',
      'namespace/shop',
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'shop', labels: { 'kubernetes.io/metadata.name': 'shop' } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
    ],
    ['serviceaccount robot', 'serviceaccount/robot', 'sa/robot', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta('robot') }],
    [
      'role reader --verb=get,list --resource=pods,deployments.apps',
      'role.rbac.authorization.k8s.io/reader',
      'role/reader',
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: meta('reader'),
        rules: [
          { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
          { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
        ],
      },
    ],
    [
      'rolebinding readers --role=reader --serviceaccount=default:robot',
      'rolebinding.rbac.authorization.k8s.io/readers',
      'rolebinding/readers',
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: meta('readers'),
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
      },
    ],
    [
      'clusterrole watcher --verb=get --non-resource-url=/metrics',
      'clusterrole.rbac.authorization.k8s.io/watcher',
      'clusterrole/watcher',
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'watcher' },
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      },
    ],
    [
      'clusterrolebinding watchers --clusterrole=watcher --user=ann --group=crew',
      'clusterrolebinding.rbac.authorization.k8s.io/watchers',
      'clusterrolebinding/watchers',
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'watchers' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'watcher' },
        subjects: [
          { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' },
          { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'crew' },
        ],
      },
    ],
    [
      'quota limits --hard=pods=10,cpu=4000m',
      'resourcequota/limits',
      'quota/limits',
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: meta('limits'), spec: { hard: { cpu: '4', pods: '10' } }, status: {} },
    ],
    [
      'pdb web --selector=app=web --max-unavailable=25%',
      'poddisruptionbudget.policy/web',
      'pdb/web',
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: meta('web', { generation: 1 }),
        spec: { maxUnavailable: '25%', selector: { matchLabels: { app: 'web' } } },
        status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
      },
    ],
    [
      'priorityclass high --value=1000 --description=first',
      'priorityclass.scheduling.k8s.io/high',
      'pc/high',
      {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'high', generation: 1 },
        value: 1000,
        description: 'first',
        preemptionPolicy: 'PreemptLowerPriority',
      },
    ],
    [
      'ingress web --rule="example.com/shop*=web:80,tls=cert"',
      'ingress.networking.k8s.io/web',
      'ing/web',
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: meta('web', { generation: 1 }),
        spec: {
          rules: [
            { host: 'example.com', http: { paths: [{ path: '/shop', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }] } },
          ],
          tls: [{ hosts: ['example.com'], secretName: 'cert' }],
        },
        status: { loadBalancer: {} },
      },
    ],
    [
      'service externalname outside --external-name=example.com',
      'service/outside',
      'svc/outside',
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: meta('outside', { labels: { app: 'outside' } }),
        spec: { externalName: 'example.com', selector: { app: 'outside' }, sessionAffinity: 'None', type: 'ExternalName' },
        status: { loadBalancer: {} },
      },
    ],
  ])('%s', async (line, created, reference, object) => {
    expect(await cluster.kubectl.ok(`create ${line}`)).toBe(`${created} created\n`)
    expect(await stored(reference)).toEqual(object)
  })

  it.each([
    ['deployment web --image=nginx:1.27 --replicas=2 --port=80', 'deployment.apps/web', '{.spec.replicas} {.spec.template.spec.containers[0].ports[0].containerPort}', '2 80'],
    ['job once --image=busybox -- echo hi', 'job.batch/once', '{.spec.template.spec.containers[0].command}', '["echo","hi"]'],
    ["cronjob nightly --image=busybox --schedule='0 3 * * *' -- date", 'cronjob.batch/nightly', '{.spec.schedule} {.spec.concurrencyPolicy}', '0 3 * * * Allow'],
    ['job manual --from=cronjob/nightly', 'job.batch/manual', '{.metadata.ownerReferences[0].kind}', 'CronJob'],
    ['service clusterip front --tcp=80:8080', 'service/front', '{.spec.ports[0].targetPort}', '8080'],
    ['service nodeport door --tcp=80 --node-port=30080', 'service/door', '{.spec.ports[0].nodePort}', '30080'],
    ['service loadbalancer wide --tcp=80', 'service/wide', '{.spec.allocateLoadBalancerNodePorts}', 'true'],
    ['secret docker-registry hub --docker-server=r.io --docker-username=a --docker-password=b', 'secret/hub', '{.type}', 'kubernetes.io/dockerconfigjson'],
  ])('%s', async (line, created, path, value) => {
    expect(await cluster.kubectl.ok(`create ${line}`)).toBe(`${created} created\n`)
    expect(await cluster.kubectl.ok(`get ${created} -o jsonpath='${path}'`)).toBe(value)
  })

  it('refuses a name that is taken', async () => {
    await cluster.kubectl.ok('create configmap taken')
    expect(await cluster.kubectl.refused('create configmap taken')).toBe('error: failed to create configmap: configmaps "taken" already exists\n')
  })

  it('refuses what is not valid', async () => {
    expect(await cluster.kubectl.refused('create deployment Web --image=nginx')).toBe(
      `error: failed to create deployment: Deployment.apps "Web" is invalid: metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n`,
    )
    expect(await cluster.kubectl.refused('create configmap lost -n nowhere')).toBe('error: failed to create configmap: namespaces "nowhere" not found\n')
  })
})

describe('kubectl run', () => {
  it('makes a pod', async () => {
    expect(await cluster.kubectl.ok('run one --image=nginx:1.27 --port=80 --env=A=b --labels=tier=front')).toBe('pod/one created\n')
    expect(masked(await cluster.kubectl.ok('get pod one --show-labels'))).toBe(block`
      NAME   READY   STATUS    RESTARTS   AGE   LABELS
      one    0/1     Pending   0          AGE   tier=front
    `)
  })
})

describe('kubectl expose', () => {
  it('makes a service of a deployment', async () => {
    await cluster.kubectl.ok('create deployment exposed --image=nginx:1.27')
    expect(await cluster.kubectl.ok('expose deployment exposed --port=80 --target-port=8080 --cluster-ip=10.0.0.77')).toBe('service/exposed exposed\n')
    expect(masked(await cluster.kubectl.ok('get service exposed -o wide'))).toBe(block`
      NAME      TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE   SELECTOR
      exposed   ClusterIP   10.0.0.77    <none>        80/TCP    AGE   app=exposed
    `)
  })
})

describe('kubectl autoscale', () => {
  it('makes an autoscaler of a deployment', async () => {
    await cluster.kubectl.ok('create deployment scaled --image=nginx:1.27')
    expect(await cluster.kubectl.ok('autoscale deployment scaled --min=1 --max=5 --cpu=80%')).toBe('horizontalpodautoscaler.autoscaling/scaled autoscaled\n')
    expect(masked(await cluster.kubectl.ok('get hpa scaled'))).toBe(block`
      NAME     REFERENCE           TARGETS              MINPODS   MAXPODS   REPLICAS   AGE
      scaled   Deployment/scaled   cpu: <unknown>/80%   1         5         0          AGE
    `)
    expect(await cluster.kubectl.ok("get horizontalpodautoscalers.v1.autoscaling scaled -o jsonpath='{.spec.targetCPUUtilizationPercentage}'")).toBe('80')
  })
})
