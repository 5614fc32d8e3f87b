import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { block, masked } from '../kubectl/masks.ts'

const cluster = useCluster()

const fruit = (name: string, colour: string, weight: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { colour } },
  data: { weight: String(weight) },
})

const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  fruit('apple', 'red', 2),
  fruit('banana', 'yellow', 3),
  fruit('cherry', 'red', 1),
  { ...fruit('pear', 'green', 4), metadata: { name: 'pear', namespace: 'shop', labels: { colour: 'green' } } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }, { name: 'log', image: 'busybox:1.36' }] } },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { clusterIP: '10.0.0.50', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
  { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one', labels: { app: 'one' } }, spec: { containers: [{ name: 'one', image: 'nginx:1.27' }] } },
]

beforeAll(async () => {
  await cluster.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
})

describe('kubectl get', () => {
  it.each([
    [
      'shows a table',
      'get deployment web',
      block`
        NAME   READY   UP-TO-DATE   AVAILABLE   AGE
        web    0/2     0            0           AGE
      `,
    ],
    [
      'shows more columns with -o wide',
      'get deployment web -o wide',
      block`
        NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES                    SELECTOR
        web    0/2     0            0           AGE   web,log      nginx:1.27,busybox:1.36   app=web
      `,
    ],
    [
      'shows a pod without a node',
      'get pods -o wide',
      block`
        NAME   READY   STATUS    RESTARTS   AGE   IP       NODE     NOMINATED NODE   READINESS GATES
        one    0/1     Pending   0          AGE   <none>   <none>   <none>           <none>
      `,
    ],
    [
      'shows every namespace with -A',
      'get configmaps -A',
      block`
        NAMESPACE     NAME                                 DATA   AGE
        default       apple                                1      AGE
        default       banana                               1      AGE
        default       cherry                               1      AGE
        kube-system   extension-apiserver-authentication   6      AGE
        shop          pear                                 1      AGE
      `,
    ],
    [
      'shows labels',
      'get configmaps --show-labels',
      block`
        NAME     DATA   AGE   LABELS
        apple    1      AGE   colour=red
        banana   1      AGE   colour=yellow
        cherry   1      AGE   colour=red
      `,
    ],
    [
      'shows a label as a column',
      'get configmaps -L colour --no-headers',
      block`
        apple    1     AGE   red
        banana   1     AGE   yellow
        cherry   1     AGE   red
      `,
    ],
    [
      'shows several kinds at once',
      'get deployments,services',
      block`
        NAME                  READY   UP-TO-DATE   AVAILABLE   AGE
        deployment.apps/web   0/2     0            0           AGE

        NAME                 TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
        service/kubernetes   ClusterIP   10.0.0.1     <none>        443/TCP   AGE
        service/web          ClusterIP   10.0.0.50    <none>        80/TCP    AGE
      `,
    ],
    [
      'shows objects of several kinds by name',
      'get cm/apple svc/web',
      block`
        NAME              DATA   AGE
        configmap/apple   1      AGE

        NAME          TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
        service/web   ClusterIP   10.0.0.50    <none>        80/TCP    AGE
      `,
    ],
    [
      'shows what users make with all',
      'get all',
      block`
        NAME      READY   STATUS    RESTARTS   AGE
        pod/one   0/1     Pending   0          AGE

        NAME                 TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE
        service/kubernetes   ClusterIP   10.0.0.1     <none>        443/TCP   AGE
        service/web          ClusterIP   10.0.0.50    <none>        80/TCP    AGE

        NAME                  READY   UP-TO-DATE   AVAILABLE   AGE
        deployment.apps/web   0/2     0            0           AGE
      `,
    ],
    [
      'sorts by a field of the objects',
      'get configmaps --sort-by=.data.weight',
      block`
        NAME     DATA   AGE
        cherry   1      AGE
        apple    1      AGE
        banana   1      AGE
      `,
    ],
    ['selects by label', 'get configmaps -l colour=red -o name', 'configmap/apple\nconfigmap/cherry\n'],
    ['selects by a set of values', "get configmaps -l 'colour in (green,yellow),size notin (big)' -A -o name", 'configmap/banana\nconfigmap/pear\n'],
    ['selects by field', 'get configmaps -A --field-selector metadata.namespace!=default,metadata.namespace!=kube-system -o name', 'configmap/pear\n'],
    ['selects pods by their phase', 'get pods --field-selector status.phase=Pending,spec.nodeName= -o name', 'pod/one\n'],
    ['prints names', 'get deploy/web cm/apple -o name', 'deployment.apps/web\nconfigmap/apple\n'],
    ['prints by jsonpath', "get configmaps -o jsonpath='{range .items[*]}{.metadata.name}={.data.weight} {end}'", 'apple=2 banana=3 cherry=1 '],
    ['prints by go-template', "get cm apple -o go-template='{{.metadata.labels.colour}}'", 'red'],
    [
      'prints columns of choice',
      'get configmaps -o custom-columns=NAME:.metadata.name,GRAMS:.data.weight,COLOUR:.metadata.labels.colour,NONE:.data.none',
      block`
        NAME     GRAMS   COLOUR   NONE
        apple    2       red      <none>
        banana   3       yellow   <none>
        cherry   1       red      <none>
      `,
    ],
    ['reads an object as it is', 'get --raw /api/v1/namespaces/shop/configmaps/pear', expect.stringContaining('"data":{"weight":"4"}')],
  ])('%s', async (_, line, output) => {
    expect(masked(await cluster.kubectl.ok(line))).toEqual(output)
  })

  it('reads a list in chunks', async () => {
    const { out, err } = await cluster.kubectl.run('get configmaps --chunk-size=2 -o name -v=6')
    expect(out).toBe('configmap/apple\nconfigmap/banana\nconfigmap/cherry\n')
    expect(err.match(/configmaps\?(continue=\S+&)?limit=2/g)).toEqual(['configmaps?limit=2', expect.stringMatching(/^configmaps\?continue=.+&limit=2$/)])
  })

  it('prints an object in YAML', async () => {
    expect(masked(await cluster.kubectl.ok('get service web -o yaml'))).toBe(block`
      apiVersion: v1
      kind: Service
      metadata:
        creationTimestamp: "TIME"
        name: web
        namespace: default
        resourceVersion: "RV"
        uid: UID
      spec:
        clusterIP: 10.0.0.50
        clusterIPs:
        - 10.0.0.50
        internalTrafficPolicy: Cluster
        ipFamilies:
        - IPv4
        ipFamilyPolicy: SingleStack
        ports:
        - port: 80
          protocol: TCP
          targetPort: 8080
        selector:
          app: web
        sessionAffinity: None
        type: ClusterIP
      status:
        loadBalancer: {}
    `)
  })

  it('prints a list in JSON', async () => {
    const list: unknown = JSON.parse(await cluster.kubectl.ok('get configmaps -l colour=red -o json'))
    expect(list).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '' },
      items: ['apple', 'cherry'].map((name) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name,
          namespace: 'default',
          labels: { colour: 'red' },
          uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          resourceVersion: expect.stringMatching(/^\d+$/) as string,
          creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
        },
        data: { weight: expect.stringMatching(/^[12]$/) as string },
      })),
    })
  })

  it.each([
    ['get pods nope', 'Error from server (NotFound): pods "nope" not found\n'],
    ['get nope', 'error: the server doesn\'t have a resource type "nope"\n'],
    [
      'get configmaps --field-selector data=x',
      'Error from server (BadRequest): Unable to find "/v1, Resource=configmaps" that match label selector "", field selector "data=x": "data" is not a known field selector: only "metadata.name", "metadata.namespace"\n',
    ],
  ])('%s is refused', async (line, message) => {
    expect(await cluster.kubectl.refused(line)).toBe(message)
  })

  it('says that there is nothing', async () => {
    expect(await cluster.kubectl.run('get pods -n shop')).toEqual({ code: 0, out: '', err: 'No resources found in shop namespace.\n' })
  })
})

describe('kubectl get --subresource', () => {
  it('shows the status', async () => {
    expect(masked(await cluster.kubectl.ok('get deployment web --subresource=status'))).toBe(block`
      NAME   READY   UP-TO-DATE   AVAILABLE   AGE
      web    0/2     0            0           AGE
    `)
  })

  it('shows the scale', async () => {
    expect(masked(await cluster.kubectl.ok('get deployment web --subresource=scale'))).toBe(block`
      NAME   DESIRED   AVAILABLE   AGE
      web    2         0           AGE
    `)
    expect(masked(await cluster.kubectl.ok('get deployment web --subresource=scale -o yaml'))).toBe(block`
      apiVersion: autoscaling/v1
      kind: Scale
      metadata:
        creationTimestamp: "TIME"
        name: web
        namespace: default
        resourceVersion: "RV"
        uid: UID
      spec:
        replicas: 2
      status:
        replicas: 0
        selector: app=web
    `)
  })
})

describe('commands into a pod that has no node', () => {
  it('logs are empty', async () => {
    expect(await cluster.kubectl.run('logs one')).toEqual({ code: 0, out: '', err: '' })
  })

  it.each([
    ['logs one -c two', 'error: container two is not valid for pod one out of: one\n'],
    ['exec one -- date', 'error: unable to upgrade connection: pod one does not have a host assigned\n'],
    ['cp one:/etc/hosts hosts', 'error: unable to upgrade connection: pod one does not have a host assigned\n'],
    ['port-forward one 0:80', 'error: unable to forward port because pod is not running. Current status=Pending\n'],
    ['exec two -- date', 'Error from server (NotFound): pods "two" not found\n'],
  ])('%s is refused', async (line, message) => {
    expect(await cluster.kubectl.refused(line)).toBe(message)
  })
})
