import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type RunningServer, startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'
import { Containerd } from './containerd.ts'

/** The behaviour of the pod network: it works, or the plug-in fails, hangs, or takes four seconds. */
export type NetworkMode = 'well' | 'fail' | 'hang' | 'late'

export const isCgroupV2 = existsSync('/sys/fs/cgroup/cgroup.controllers')

/** Everything in one process, with a containerd of its own that tests may break. Both can be ended and started again. */
export class Machine {
  readonly containerd: Containerd
  readonly dataDir = mkdtempSync(path.join(tmpdir(), 'cox-cri-data-'))
  readonly #flags: readonly string[]
  server!: RunningServer
  kubectl!: Kubectl

  static async start(...flags: string[]): Promise<Machine> {
    const machine = new Machine(await Containerd.start(), flags)
    machine.#installPlugin()
    await machine.start()
    return machine
  }

  private constructor(containerd: Containerd, flags: readonly string[]) {
    this.containerd = containerd
    this.#flags = flags
  }

  async start(): Promise<void> {
    this.server = await startEverything(this.dataDir, ['--node-name', 'here', '--runtime', 'cri', '--container-runtime-endpoint', this.containerd.endpoint, ...this.#flags])
    this.kubectl?.remove()
    this.kubectl = new Kubectl(this.server.kubeconfig)
  }

  /** The label by which the node finds its sandboxes again. */
  get owner(): string {
    return `here.${createHash('sha256').update(realpathSync(path.join(this.dataDir, 'node'))).digest('hex').slice(0, 10)}`
  }

  /** The cgroup of the node's pods. In version 1 each controller has its own. */
  cgroup(controller: 'cpu' | 'memory' | 'pids'): string {
    return path.join('/sys/fs/cgroup', isCgroupV2 ? '' : controller, `coxswain-${this.owner.slice(-10)}`)
  }

  network(mode: NetworkMode): void {
    writeFileSync(this.#modeFile, mode)
  }

  async create(...pods: object[]): Promise<void> {
    await this.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pods }))
  }

  ready(pod: string): Promise<string> {
    return this.kubectl.ok(`wait --for=condition=Ready pod/${pod} --timeout=60s`)
  }

  /** A field of a pod, as jsonpath names it. */
  field(pod: string, fields: string): Promise<string> {
    return this.kubectl.ok(`get pod ${pod} -o 'jsonpath=${fields}'`)
  }

  /** The condition PodReadyToStartContainers of a pod, as `False,Reason,message`. */
  says(pod: string): Promise<string> {
    return this.field(pod, '{range .status.conditions[?(@.type=="PodReadyToStartContainers")]}{.status},{.reason},{.message}{end}')
  }

  sandboxSince(pod: string): Promise<string> {
    return this.field(pod, '{.status.conditions[?(@.type=="PodReadyToStartContainers")].lastTransitionTime}')
  }

  async remove(): Promise<void> {
    this.network('well')
    await this.kubectl?.run('delete pods --all --now --timeout=60s')
    await this.server?.stop()
    this.kubectl?.remove()
    await this.containerd.remove()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  get #modeFile(): string {
    return path.join(this.containerd.directory, 'cni/mode')
  }

  /** Addresses are given out by host-local, behind a program that does as it is told. */
  #installPlugin(): void {
    this.network('well')
    const plugin = path.join(this.containerd.pluginDirectory, 'moody')
    writeFileSync(plugin, `#!/bin/sh
if [ "$CNI_COMMAND" = ADD ]; then
  case $(cat ${this.#modeFile}) in
    fail) echo '{"cniVersion":"1.0.0","code":11,"msg":"no address is left in the pool"}'; exit 1;;
    hang) exec sleep 1000;;
    late) sleep 4;;
  esac
fi
exec ${this.containerd.pluginDirectory}/host-local
`)
    chmodSync(plugin, 0o755)
    this.containerd.network({ ipam: 'moody' })
  }
}

/** A pod that stays up, but for what is said. */
export const podOf = (name: string, spec: Record<string, unknown> = {}, container: Record<string, unknown> = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'busybox:1.36', command: ['sh', '-c', 'trap "exit 0" TERM; echo began; while true; do sleep 0.2; done'], ...container }],
    ...spec,
  },
})
