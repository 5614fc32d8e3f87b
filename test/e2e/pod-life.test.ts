import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { useEverything, usePods } from '../kubectl/cluster.ts'
import { hasContainers } from '../kubectl/coxswain.ts'

const manifest = `
apiVersion: v1
kind: Pod
metadata: { name: ends }
spec:
  restartPolicy: Never
  containers:
    - { name: note, image: busybox, command: [sh, -c, 'echo all done > "$COXSWAIN_ROOT"/dev/termination-log'] }
    - { name: elsewhere, image: busybox, terminationMessagePath: /tmp/why, command: [sh, -c, 'echo no luck > "$COXSWAIN_ROOT"/tmp/why; exit 4'] }
    - { name: log, image: busybox, terminationMessagePolicy: FallbackToLogsOnError, command: [sh, -c, 'echo out of words; exit 3'] }
    - { name: quiet, image: busybox, command: [sh, -c, 'echo out of words; exit 3'] }
    - { name: hoards, image: busybox, resources: { limits: { memory: 16Mi } }, command: [sh, -c, 'x=$(head -c 40000000 /dev/zero | tr "\\\\0" x); sleep 60'] }
---
apiVersion: v1
kind: Pod
metadata: { name: stays }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: main, image: busybox, command: [sh, -c, 'exec sleep 600'] }
---
apiVersion: v1
kind: Pod
metadata: { name: large }
spec:
  nodeName: here
  containers:
    - { name: main, image: nginx, resources: { requests: { cpu: 1k } } }
`

const cluster = useEverything(['--node-name', 'here'])
usePods(cluster, manifest, 'pod/stays')

describe('the end of a container', () => {
  it.each([
    ['note', '0 Completed all done'],
    ['elsewhere', '4 Error no luck'],
    ['log', '3 Error out of words'],
    ['quiet', '3 Error'],
    ['hoards', '137 OOMKilled'],
  ])('is told: %s', async (name, expected) => {
    await cluster.kubectl.ok('wait --for=jsonpath={.status.phase}=Failed pod/ends --timeout=60s')
    const state = `{.status.containerStatuses[?(@.name=="${name}")].state.terminated`
    expect((await cluster.kubectl.ok(`get pod ends -o 'jsonpath=${state}.exitCode} ${state}.reason} ${state}.message}'`)).trim()).toBe(expected)
  })
})

it('kubectl debug starts a container beside the others', async () => {
  expect(await cluster.kubectl.ok('debug stays --image=busybox --container=look --attach --quiet -- sh -c "sleep 1; echo looked; exit 0"')).toContain('looked')
  await cluster.kubectl.ok('wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=0 pod/stays --timeout=60s')
  expect(await cluster.kubectl.ok('logs stays -c look')).toBe('looked\n')
})

it('a pod that asks for more than there is is refused by the node, with the reason', async () => {
  await cluster.kubectl.ok('wait --for=jsonpath={.status.phase}=Failed pod/large --timeout=60s')
  expect(await cluster.kubectl.ok('get pod large --no-headers')).toContain('OutOfcpu')
  expect(await cluster.kubectl.ok('get pod large -o jsonpath={.status.message}')).toMatch(/^Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: \d+, capacity: \d+$/)
})

describe('service accounts', () => {
  interface UserReply {
    username?: string
    extra?: Record<string, string[]>
  }
  const whoami = (token: string) =>
    new Promise<{ code: number | undefined; name: string; pod?: string }>((resolve, reject) => {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      request(`${cluster.server.url}${path}`, { method: 'POST', headers, rejectUnauthorized: false }, async (answer) => {
        const { status } = JSON.parse(await text(answer)) as { status?: { userInfo?: UserReply } }
        const { username: name = '', extra } = status?.userInfo ?? {}
        const pod = extra?.['authentication.kubernetes.io/pod-name']?.[0]
        resolve({ code: answer.statusCode, name, ...(pod ? { pod } : {}) })
      })
        .on('error', reject)
        .end(JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }))
    })

  it('kubectl create token makes one with which somebody is the account', async () => {
    const token = (await cluster.kubectl.ok('create token default --duration=10m')).trim()
    expect(await whoami(token)).toEqual({ code: 201, name: 'system:serviceaccount:default:default' })
    expect(await whoami(`${token.slice(0, -4)}AAAA`)).toMatchObject({ code: 401 })
  })

  it.runIf(!hasContainers)('a pod finds the API server, and may do what its account may', async () => {
    const place = '$COXSWAIN_ROOT/var/run/secrets/kubernetes.io/serviceaccount'
    const script = `
      const { readFileSync } = require('node:fs')
      const [ca, token] = ['ca.crt', 'token'].map((name) => readFileSync(process.argv[2] + '/' + name, 'utf8'))
      const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
      require('node:https').get({ host, port, ca, agent: false, path: '/api/v1/namespaces/default/pods/stays', headers: { authorization: 'Bearer ' + token } }, (answer) => console.log(answer.resume().statusCode))`
    const asked = () => cluster.kubectl.ok(`exec -i stays -c main -- sh -c "${process.execPath} - ${place}"`, script)
    expect(await asked()).toBe('403\n')
    await cluster.kubectl.ok('create rolebinding pods-view --clusterrole=view --serviceaccount=default:default')
    expect(await asked()).toBe('200\n')
  })

  it('a pod finds a token of its account, which is worth nothing when the pod is gone', async () => {
    const token = (await cluster.kubectl.ok('exec stays -- sh -c "cat $COXSWAIN_ROOT/var/run/secrets/kubernetes.io/serviceaccount/token"')).trim()
    expect(await whoami(token)).toEqual({ code: 201, name: 'system:serviceaccount:default:default', pod: 'stays' })
    await cluster.kubectl.ok('delete pod stays --now')
    expect(await whoami(token)).toMatchObject({ code: 401 })
  })
})
