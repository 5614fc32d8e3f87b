import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type RunningServer, hasContainers, runCoxswain, startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

/** Everything, with nodes that run processes, on a directory that outlives it. */
class Machine {
  readonly dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-sandbox-'))
  server!: RunningServer
  kubectl!: Kubectl

  static async start(...flags: string[]): Promise<Machine> {
    const machine = new Machine()
    onTestFinished(() => machine.remove())
    await machine.start(...flags)
    return machine
  }

  async start(...flags: string[]): Promise<void> {
    this.server = await startEverything(this.dataDir, flags)
    this.kubectl = new Kubectl(this.server.kubeconfig)
  }

  /** As if the power went: nothing of it runs any more, and the kernel that comes up is another. */
  async crash(): Promise<void> {
    await this.server.stop('SIGKILL')
    const runtime = path.join(this.dataDir, 'node/runtime')
    for (const id of readdirSync(path.join(runtime, 'containers'))) {
      const { pid } = readRecord(path.join(runtime, 'containers', id, 'state.json')) as { pid: number }
      // Its parent first, which would tell how it ended.
      for (const victim of [parentOf(pid), -pid]) process.kill(victim, 'SIGKILL')
    }
    for (const id of readdirSync(path.join(runtime, 'sandboxes'))) {
      const file = path.join(runtime, 'sandboxes', id, 'record.json')
      writeFileSync(file, JSON.stringify({ ...readRecord(file), boot: 'another' }))
    }
  }

  async remove(): Promise<void> {
    await this.kubectl.run('delete pods --all --now --timeout=60s')
    await this.server.stop()
    this.kubectl.remove()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  /** The condition PodReadyToStartContainers of a pod, as `False,Reason,message`. */
  says(pod: string): Promise<string> {
    const fields = '{.status},{.reason},{.message}'
    const ready = 'PodReadyToStartContainers'
    return this.kubectl.ok(
      `get pod ${pod} -o 'jsonpath={range .status.conditions[?(@.type=="${ready}")]}${fields}{end}'`
    )
  }

  async fault(...args: string[]): Promise<void> {
    expect(await runCoxswain(['fault', ...args, '--kubeconfig', this.server.kubeconfig])).toMatchObject({ code: 0 })
  }

  /** Status and time of a condition of a pod. */
  async condition(pod: string, type = 'PodReadyToStartContainers'): Promise<{ status: string; since: string }> {
    const [status = '', since = ''] = (await this.kubectl.ok(`get pod ${pod} -o 'jsonpath={range .status.conditions[?(@.type=="${type}")]}{.status},{.lastTransitionTime}{end}'`)).split(',')
    return { status, since }
  }
}

const readRecord = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as object
const parentOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) \S+ /, '').split(' ')[0])

const pod = (name: string, more = '') => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 1
  containers: [{ name: main, image: busybox, command: [sh, -c, 'echo began; exec sleep 600']${more} }]
`

it('a basic pod is ready to start containers, and no more when it goes', async () => {
  const { kubectl } = await Machine.start()
  const columns = 'T:.status.conditions[*].type,S:.status.conditions[*].status,D:.metadata.deletionTimestamp'
  const seen = kubectl.start(`get pods -w --no-headers -o custom-columns=${columns}`)
  onTestFinished(async () => void (await seen.stop()))
  await seen.watching()
  /** The next that is seen with such statuses, whatever comes before it. */
  const next = async (statuses: string) => {
    for (let line = 0; line < 100; line++) {
      const [types, said, deleted] = (await seen.nextLine()).split(/ +/)
      if (said === statuses) return { types, isGoing: deleted !== '<none>' }
    }
    throw new Error(`no pod is ever seen with ${statuses}`)
  }
  await kubectl.ok('create -f -', pod('basic'))
  expect(await next('True,True,True,True,True')).toEqual({ types: 'PodReadyToStartContainers,Initialized,Ready,ContainersReady,PodScheduled', isGoing: false })
  await kubectl.ok('delete pod basic --timeout=60s')
  expect(await next('False,True,False,False,True')).toMatchObject({ isGoing: true })
})

it('a pod whose config map is missing says so, and starts by itself when it is there', async () => {
  const machine = await Machine.start()
  const { kubectl } = machine
  const volume = ', volumeMounts: [{ name: settings, mountPath: /etc/settings }]'
  await kubectl.ok('create -f -', `${pod('waits', volume)}  volumes: [{ name: settings, configMap: { name: later } }]\n`)
  const why = 'MountVolume.SetUp failed for volume "settings" : configmap "later" not found'
  await expect.poll(() => machine.says('waits'), { timeout: 40_000 }).toBe(`False,ConfigMapNotFound,${why}`)
  await expect.poll(
    () => kubectl.ok('describe pod waits'), { timeout: 40_000 }
  ).toMatch(new RegExp(`Warning +FailedMount .* ${why}`))
  expect((await machine.condition('waits', 'Initialized')).status).toBe('True')
  expect(await kubectl.ok('get pod waits --no-headers')).toMatch(/^waits +0\/1 +ContainerCreating +0 /)
  await kubectl.ok('create configmap later --from-literal=a=b')
  await kubectl.ok('wait --for=condition=Ready pod/waits --timeout=60s')
  expect(await machine.says('waits')).toBe('True,,')
})

it('a pod without a sandbox says why, and nothing more once that is mended', async () => {
  const machine = await Machine.start()
  const { kubectl } = machine
  await machine.fault('add', 'csi', '--pod', 'disk', '--fail')
  await machine.fault('add', 'ipam', '--pod', 'address', '--fail', 'no address is left')
  await kubectl.ok('create -f -', `${pod('secretive')}  volumes: [{ name: keys, secret: { secretName: later } }]\n`)
  const size = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const volume = { ...size, capacity: { storage: '1Gi' }, csi: { driver: 'disks.example.com', volumeHandle: 'one' }, claimRef: { namespace: 'default', name: 'scratch' } }
  await kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'scratch' }, spec: volume }))
  const claim = { ...size, volumeName: 'scratch', resources: { requests: { storage: '1Gi' } } }
  await kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'scratch' }, spec: claim }))
  await kubectl.ok('create -f -', `${pod('disk')}  volumes: [{ name: scratch, persistentVolumeClaim: { claimName: scratch } }]\n`)
  await kubectl.ok('create -f -', pod('address'))
  const said = { secretive: '', disk: '', address: '' }
  const listen = async () => {
    for (const name of ['secretive', 'disk', 'address'] as const) said[name] = await machine.says(name)
    return said
  }
  const deadline = 'driver disks.example.com: rpc error: code = DeadlineExceeded desc = context deadline exceeded'
  await expect.poll(listen, { timeout: 40_000 }).toEqual({
    secretive: 'False,SecretNotFound,MountVolume.SetUp failed for volume "keys" : secret "later" not found',
    disk: `False,VolumeMountFailed,MountVolume.SetUp failed for volume "scratch" : ${deadline}`,
    address: 'False,NetworkNotReady,Failed to create pod sandbox: no address is left',
  })
  await kubectl.ok('create secret generic later --from-literal=a=b')
  await machine.fault('clear')
  await kubectl.ok('wait --for=condition=Ready pod --all --timeout=60s')
  expect(await listen()).toEqual({ secretive: 'True,,', disk: 'True,,', address: 'True,,' })
})

// With containers: test/cri/failures.test.ts.
it.runIf(!hasContainers)('a node that was down gives its pods new sandboxes', async () => {
  const machine = await Machine.start()
  await machine.kubectl.ok('create -f -', pod('web'))
  await machine.kubectl.ok('wait --for=condition=Ready pod/web --timeout=60s')
  const identity = (kubectl: Kubectl) => kubectl.ok('get pod web -o jsonpath={.metadata.uid},{.status.containerStatuses[0].containerID}')
  const [uid, container] = (await identity(machine.kubectl)).split(',')
  const before = await machine.condition('web')
  // Times of conditions have whole seconds.
  await expect.poll(() => new Date().toISOString().slice(0, 19), { interval: 100, timeout: 5000 }).not.toBe(before.since.slice(0, 19))
  await machine.crash()

  await machine.start()
  await machine.kubectl.ok('wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/web --timeout=60s')
  await machine.kubectl.ok('wait --for=condition=Ready pod/web --timeout=60s')
  const after = await machine.condition('web')
  expect(after.status).toBe('True')
  expect(after.since > before.since).toBe(true)
  const [sameUid, otherContainer] = (await identity(machine.kubectl)).split(',')
  expect(sameUid).toBe(uid)
  expect(otherContainer).not.toBe(container)
})

it('a node that is told to go down ends its pods first, and their sandboxes are told as gone', async () => {
  const machine = await Machine.start('--shutdown-grace-period', '10s')
  await machine.kubectl.ok('create -f -', pod('web'))
  await machine.kubectl.ok('wait --for=condition=Ready pod/web --timeout=60s')
  // In the namespace of the tests with containers, the address of the DNS server is nobody's.
  expect(await machine.server.stop()).toMatchObject(hasContainers ? { code: 0 } : { code: 0, err: '' })

  await machine.start()
  expect(await machine.kubectl.ok('get pod web -o jsonpath={.status.phase},{.status.reason},{.status.message}')).toBe('Failed,Terminated,Pod was terminated in response to imminent node shutdown.')
  expect((await machine.condition('web')).status).toBe('False')
  expect((await machine.condition('web', 'DisruptionTarget')).status).toBe('True')
})
