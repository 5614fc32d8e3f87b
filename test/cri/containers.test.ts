import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Machine, isCgroupV2, podOf } from './machine.ts'

const script = 'trap "exit 0" TERM; while true; do sleep 0.2; done'
const command = ['sh', '-c', script]

let machine: Machine
beforeAll(async () => {
  machine = await Machine.start('--pod-pids-limit', '200')
  const ok = (line: string) => machine.kubectl.ok(line)
  await ok('create configmap settings --from-literal=color=blue')
  await ok('create secret generic keys --from-literal=key=secret')
  await machine.create(
    podOf('confined', {
      hostname: 'boat', subdomain: 'crew',
      hostAliases: [{ ip: '10.1.2.3', hostnames: ['harbour'] }],
      dnsPolicy: 'None', dnsConfig: { nameservers: ['10.9.8.7'], searches: ['sea.example'], options: [{ name: 'ndots', value: '3' }] },
      securityContext: { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, supplementalGroups: [4000], runAsNonRoot: true, sysctls: [{ name: 'net.ipv4.ip_local_port_range', value: '20000 20100' }], seccompProfile: { type: 'RuntimeDefault' } },
      volumes: [{ name: 'data', emptyDir: {} }],
    }, {
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
      resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' } },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
    }),
    podOf('powerful', { hostNetwork: true, hostPID: true }, { securityContext: { privileged: true } }),
    podOf('plain'),
    podOf('open', {}, { securityContext: { procMount: 'Default', capabilities: { add: ['SYS_TIME'] } } }),
    podOf('apart', { hostUsers: false }, { securityContext: { procMount: 'Unmasked' } }),
    podOf('rooted', { securityContext: { runAsNonRoot: true } }),
    podOf('full', {
      serviceAccountName: 'default',
      volumes: [
        { name: 'config', configMap: { name: 'settings' } }, { name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } },
        { name: 'about', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
        { name: 'all', projected: { sources: [{ configMap: { name: 'settings' } }, { serviceAccountToken: { path: 'token', expirationSeconds: 600 } }] } },
        { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
        { name: 'host', hostPath: { path: `${machine.containerd.directory}/host`, type: 'DirectoryOrCreate' } },
        { name: 'claim', persistentVolumeClaim: { claimName: 'disk' } },
      ],
    }, {
      volumeMounts: [
        { name: 'config', mountPath: '/config' }, { name: 'keys', mountPath: '/keys' }, { name: 'about', mountPath: '/about' }, { name: 'all', mountPath: '/all' },
        { name: 'memory', mountPath: '/memory' }, { name: 'host', mountPath: '/host' }, { name: 'claim', mountPath: '/claim' },
        { name: 'claim', mountPath: '/part', subPath: 'a/b' }, { name: 'config', mountPath: '/one-file', subPath: 'color' },
      ],
    }),
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'disk' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    podOf('shared', {
      shareProcessNamespace: true,
      initContainers: [
        { name: 'first', image: 'busybox:1.36', command: ['sh', '-c', 'echo first'] },
        { name: 'side', image: 'busybox:1.36', restartPolicy: 'Always', command, startupProbe: { exec: { command: ['true'] }, periodSeconds: 1 } },
      ],
      containers: [{
        name: 'main', image: 'nginx', ports: [{ containerPort: 80, hostPort: 8123, name: 'http' }],
        readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 }, livenessProbe: { tcpSocket: { port: 80 } },
        lifecycle: { postStart: { exec: { command: ['touch', '/tmp/started'] } }, preStop: { httpGet: { port: 80, path: '/' } } },
      }],
    }),
  )
  for (const name of ['confined', 'powerful', 'plain', 'open', 'full', 'shared']) await machine.ready(name)
}, 120_000)
afterAll(() => machine.remove())

const inside = (pod: string, words: string) => machine.kubectl.ok(`exec ${pod} -c main -- sh -c '${words}'`)

describe('a security context', () => {
  it('gives the user and the groups', async () => {
    expect(await inside('confined', 'id -u; id -g')).toBe('1000\n3000\n')
    expect((await inside('confined', 'id -G')).trim().split(' ').sort()).toEqual(['2000', '3000', '4000'])
    expect(await inside('plain', 'id -u')).toBe('0\n')
  })

  it.each([
    ['plain', '00000000a80425fb', '0', '0'],
    ['confined', '0000000000000400', '1', '2'],
    ['open', '00000000aa0425fb', '0', '0'],
  ])('gives capabilities, new privileges and seccomp: %s', async (pod, bounding, noNewPrivileges, seccomp) => {
    const status = await inside(pod, 'cat /proc/1/status')
    expect([/CapBnd:\s+(\w+)/, /NoNewPrivs:\s+(\d)/, /Seccomp:\s+(\d)/].map((field) => field.exec(status)?.[1])).toEqual([bounding, noNewPrivileges, seccomp])
  })

  it('of a privileged container gives it the machine', async () => {
    const [ours = ''] = /CapBnd:\s+(\w+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.slice(1) ?? []
    expect(await inside('powerful', 'grep CapBnd /proc/self/status')).toContain(ours)
    expect(await inside('powerful', 'ls /proc/1/root/usr/bin/busybox; echo 1 > /proc/sys/net/ipv4/ip_forward; echo $?')).toContain('0\n')
  })

  it('makes the root directory one for reading, and leaves volumes as they are', async () => {
    expect(await inside('confined', 'touch /x; touch /data/x; stat -c "%u %g" /data/x')).toBe('1000 2000\n')
  })

  it('hides parts of /proc', async () => {
    expect(await inside('plain', 'echo b > /proc/sysrq-trigger; cat /proc/keys | wc -c; ls /sys/firmware | wc -l')).toBe('0\n0\n')
  })

  it('with users of its own keeps a pod from starting, which the runtime cannot give', async () => {
    const message = "Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces"
    await expect.poll(() => machine.says('apart'), { timeout: 40_000 }).toBe(`False,SandboxCreateFailed,${message}`)
  })

  it('keeps an image that runs as root from starting where that is not allowed', async () => {
    await machine.kubectl.ok('wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError pod/rooted --timeout=60s')
    expect(await machine.field('rooted', '{.status.containerStatuses[0].state.waiting.message}')).toMatch(
      /^container has runAsNonRoot and image will run as root \(pod: "rooted_default\(.*\)", container: main\)$/)
  })
})

describe('a sandbox', () => {
  it('has its name, its hosts, its resolver and its sysctls', async () => {
    expect(await inside('confined', 'hostname')).toBe('boat\n')
    const ip = await machine.field('confined', '{.status.podIP}')
    const hosts = await inside('confined', 'cat /etc/hosts')
    expect(hosts).toContain(`${ip}\tboat.crew.default.svc.cluster.local\tboat\n`)
    expect(hosts).toContain('# Entries added by HostAliases.\n10.1.2.3\tharbour\n')
    expect(await inside('confined', 'cat /etc/resolv.conf')).toBe('search sea.example\nnameserver 10.9.8.7\noptions ndots:3\n')
    expect(await inside('confined', 'cat /proc/sys/net/ipv4/ip_local_port_range')).toBe('20000\t20100\n')
  })

  it('with the network of the host has its address and its name', async () => {
    expect(await machine.field('powerful', '{.status.podIP}')).toBe(await machine.field('powerful', '{.status.hostIP}'))
    expect(await inside('powerful', 'ls /sys/class/net')).toContain('cox')
  })

  it('is reached at its address, at a port of the host, and from other pods', async () => {
    const ip = await machine.field('shared', '{.status.podIP}')
    expect(await (await fetch(`http://${ip}/`)).text()).toContain('container web of pod')
    expect(await inside('plain', `wget -q -O - http://${ip}/`)).toContain('container web of pod')
    const isOpen = await new Promise((resolve) => connect(8123, '127.0.0.1').once('connect', () => resolve(true)).once('error', () => resolve(false)))
    expect(isOpen).toBe(true)
  })

  it('is shared by its containers', async () => {
    expect(await inside('shared', 'ps | grep -c "trap"')).not.toBe('0\n')
    expect(await inside('shared', 'ls /tmp/started')).toBe('/tmp/started\n')
    expect(await machine.kubectl.ok('logs shared -c first')).toBe('first\n')
  })
})

describe('cgroups', () => {
  const uidOf = (pod: string) => machine.field(pod, '{.metadata.uid}')
  const read = (controller: 'cpu' | 'memory' | 'pids', below: string) => readFileSync(`${machine.cgroup(controller)}/${below}`, 'utf8').trim()
  const weight = (below: string) => read('cpu', `${below}/${isCgroupV2 ? 'cpu.weight' : 'cpu.shares'}`)

  it('are a tree by quality of service, with the limits of each pod', async () => {
    const burstable = `burstable/pod${await uidOf('confined')}`
    const quota = isCgroupV2 ? read('cpu', `${burstable}/cpu.max`) : `${read('cpu', `${burstable}/cpu.cfs_quota_us`)} ${read('cpu', `${burstable}/cpu.cfs_period_us`)}`
    const memory = read('memory', `${burstable}/${isCgroupV2 ? 'memory.max' : 'memory.limit_in_bytes'}`)
    expect([weight(burstable), quota, memory, read('pids', `${burstable}/pids.max`)]).toEqual([isCgroupV2 ? '4' : '102', '20000 100000', String(64 << 20), '200'])
    const least = isCgroupV2 ? '1' : '2'
    expect([weight('besteffort'), weight(`besteffort/pod${await uidOf('plain')}`)]).toEqual([least, least])
    expect(await inside('confined', 'cat /proc/1/oom_score_adj')).toMatch(/^9\d\d\n$/)
  })

  it('tell what containers take', async () => {
    await expect.poll(async () => (await machine.kubectl.run('top pods --containers --no-headers')).out, { timeout: 40_000 }).toMatch(/confined\s+main\s+\d+m\s+\d+Mi/)
    const metrics = await machine.kubectl.ok('get --raw /api/v1/nodes/here/proxy/metrics/cadvisor')
    expect(metrics).toMatch(/container_memory_working_set_bytes\{container="main",.*namespace="default",pod="confined"\} [1-9]/)
    expect(metrics).toMatch(/container_cpu_usage_seconds_total\{container="main",.*namespace="default",pod="confined"\} [\d.]+/)
  })
})

describe('volumes', () => {
  it.each([
    ['cat /config/color', 'blue'],
    ['cat /keys/key; stat -L -c "%a" /keys/key', 'secret400\n'],
    ['cat /about/name', 'full'],
    ['cat /all/color; cut -c1-3 /all/token', 'blueeyJ\n'],
    ['cat /one-file', 'blue'],
    ['grep " /memory " /proc/mounts | cut -d" " -f3', 'tmpfs\n'],
    ['touch /host/x /part/x; ls /claim/a/b', 'x\n'],
  ])('%s', async (words, expected) => {
    expect(await inside('full', words)).toBe(expected)
  })

  it('of memory are no larger than they may be', async () => {
    expect(await inside('full', 'dd if=/dev/zero of=/memory/large bs=1M count=20 2>/dev/null; stat -c %s /memory/large')).toBe(`${8 << 20}\n`)
  })

  it('follow what they are made from', async () => {
    await machine.kubectl.ok(`patch configmap settings -p '${JSON.stringify({ data: { color: 'red' } })}'`)
    await expect.poll(() => inside('full', 'cat /config/color /all/color'), { timeout: 40_000 }).toBe('redred')
  })

  it('keep a part of them where it is, whatever a container puts in its place', async () => {
    await inside('full', 'mv /claim/a /claim/was; mkdir -p /claim/a; ln -s /etc /claim/a/b; touch /part/y')
    expect(await inside('full', 'ls /claim/was/b')).toBe('x\ny\n')
    await inside('full', 'kill 1')
    await machine.kubectl.ok('wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError pod/full --timeout=60s')
    expect(await machine.field('full', '{.status.containerStatuses[0].state.waiting.message}')).toContain('failed to prepare subPath for volumeMount "claim"')
  })
})

describe('an image in place of another', () => {
  it('restarts the container and leaves the sandbox alone', async () => {
    const fields = '{.metadata.uid},{.status.podIP},{.status.conditions[?(@.type=="PodReadyToStartContainers")].lastTransitionTime}'
    const before = await machine.field('plain', fields)
    await machine.kubectl.ok('set image pod/plain main=busybox:1.37')
    await machine.kubectl.ok('wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/plain --timeout=60s')
    await machine.ready('plain')
    expect(await machine.field('plain', '{.status.containerStatuses[0].image}')).toBe('docker.io/library/busybox:1.37')
    expect(await machine.field('plain', fields)).toBe(before)
  })
})

describe('a resize', () => {
  it('is reported as pending, and applied to the pod and its container when the container restarts', async () => {
    const resources = { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '96Mi' } }
    await machine.kubectl.ok(`patch pod confined --subresource resize -p '${JSON.stringify({ spec: { containers: [{ name: 'main', resources }] } })}'`)
    const pending = () => machine.field('confined', '{.status.conditions[?(@.type=="PodResizePending")].reason}')
    const limit = () => machine.field('confined', '{.status.containerStatuses[0].resources.limits.memory}')
    await expect.poll(pending, { timeout: 40_000 }).toBe('Infeasible')
    expect(await limit()).toBe('64Mi')
    await inside('confined', 'kill 1')
    await expect.poll(async () => `${await pending()} ${await limit()}`, { timeout: 40_000 }).toBe(' 96Mi')
    const ofPod = `${machine.cgroup('memory')}/burstable/pod${await machine.field('confined', '{.metadata.uid}')}`
    expect(readFileSync(`${ofPod}/${isCgroupV2 ? 'memory.max' : 'memory.limit_in_bytes'}`, 'utf8').trim()).toBe(String(96 << 20))
  })
})
