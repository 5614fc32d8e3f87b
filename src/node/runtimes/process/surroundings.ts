import { formatResolvConf } from '../../../base/resolv-conf.ts'
import { isPodUser } from '../../runtime/pod-users.ts'
import type { ContainerConfig } from '../../runtime/runtime.ts'
import { type CatalogueEntry, entryFor } from './catalogue.ts'
import { containerIdVariable } from './proc.ts'
import { type Find, finder, notFoundError, placeholderCommand, programOf } from './program.ts'
import type { ContainerRecord, SandboxRecord } from './records.ts'
import {
  type ViewKind,
  type ViewOptions,
  carriedEnvironment,
  enterCommand,
  joinCommand,
  linkedPaths,
  makeLinks,
} from './root-view.ts'
import { enterNamespaceCommand, joinNamespaceCommand } from './namespace-view.ts'
import type { Launch } from './shim/protocol.ts'
import { hasTerminals, inTerminal } from './terminal.ts'
import { defaultSearchPath } from './tools.ts'

const hostAddress = '127.0.0.1'

/** The environment of a container's programs: its own program and those that are started in it later. */
export class Surroundings {
  readonly #container: ContainerRecord
  readonly #sandbox: SandboxRecord
  readonly #entry: CatalogueEntry | undefined
  readonly #view: ViewOptions
  readonly #env: Record<string, string>
  readonly #find: Find

  constructor(
    container: ContainerRecord,
    sandbox: SandboxRecord,
    catalogue: readonly CatalogueEntry[],
    view: { kind: ViewKind; hidden: readonly string[] },
    directory: string,
  ) {
    this.#container = container
    this.#sandbox = sandbox
    this.#entry = entryFor(container.config.image, catalogue)
    const config = { ...container.config, workingDir: container.config.workingDir || this.#entry?.workingDir || '/' }
    this.#view = { ...view, directory, hostname: sandbox.config.hostname, resolvConf: resolvConfOf(sandbox), config }
    this.#env = environment(container, sandbox, this.#entry)
    this.#find = finder(this.#searchPath, config.workingDir, config.mounts)
  }

  /** The instructions for the shim. Throws if the program does not exist. */
  launch(logPath: string): Launch {
    const { config } = this.#container
    const program = programOf(config, this.#entry, this.#find)
    const isPlaceholder = program.kind === 'placeholder'
    const around = this.#around(isPlaceholder ? placeholderCommand : program.command, config.tty)
    return {
      directory: this.#view.directory,
      logPath,
      ...around,
      stdin: config.stdin,
      stdinOnce: config.stdinOnce,
      tty: config.tty && hasTerminals,
      reportsReady: this.#view.kind !== 'links',
      hasNamespaces: this.#view.kind === 'namespace',
      stopSignal: config.stopSignal || 'SIGTERM',
      outputOwner: this.#view.kind === 'own' ? config.user.uid : undefined,
      placeholder: isPlaceholder ? this.#placeholder() : undefined,
    }
  }

  /** The command that runs another command in the environment of the container's process. */
  join(
    command: readonly string[],
    pid: number,
    tty: boolean,
  ): Pick<Launch, 'command' | 'env' | 'workingDirectory' | 'user'> {
    return this.#around(command, tty, pid)
  }

  #around(
    command: readonly string[],
    tty: boolean,
    pid?: number,
  ): Pick<Launch, 'command' | 'env' | 'workingDirectory' | 'user'> {
    const [name, ...args] = command
    const file = this.#find(name ?? '')
    if (file === undefined) throw notFoundError(name ?? '')
    const env = { ...this.#env, ...(tty ? { TERM: this.#env['TERM'] ?? 'xterm' } : {}) }
    const wrap = (words: readonly string[]) => (tty ? inTerminal(words) : words)
    if (this.#view.kind !== 'links') {
      const { variables, carried } = carriedEnvironment({ ...env, COXSWAIN_ROOT: '/' })
      const entered = { command: wrap(command), carried }
      const [enter, join] =
        this.#view.kind === 'own' ? [enterCommand, joinCommand] : [enterNamespaceCommand, joinNamespaceCommand]
      const words = pid === undefined ? enter(this.#view, entered) : join(pid, this.#view.config, entered)
      return { command: words, env: { ...variables, PATH: defaultSearchPath }, workingDirectory: '/', user: {} }
    }
    const { root, workingDirectory } = linkedPaths(this.#view)
    if (pid === undefined) makeLinks(this.#view)
    const { uid, gid } = this.#container.config.user
    const mayChange = process.getuid?.() === 0 && (uid !== undefined || gid !== undefined)
    return {
      command: wrap([file, ...args]),
      env: { ...env, COXSWAIN_ROOT: root },
      workingDirectory,
      user: mayChange ? { uid: uid ?? 0, gid: gid ?? 0 } : {},
    }
  }

  get #searchPath(): string {
    return this.#env['PATH'] || defaultSearchPath
  }

  #placeholder(): NonNullable<Launch['placeholder']> {
    const { config } = this.#container
    const { name, namespace } = this.#sandbox.config.metadata
    const ports = config.ports.filter((p) => p.protocol === 'TCP' || p.protocol === '').map((p) => p.containerPort)
    const text = `This is container ${config.metadata.name} of pod ${namespace}/${name}: a placeholder for image ${config.image}.\n`
    return { address: this.#sandbox.address ?? hostAddress, ports, text }
  }
}

function environment(
  container: ContainerRecord,
  sandbox: SandboxRecord,
  entry: CatalogueEntry | undefined,
): Record<string, string> {
  const { config } = container
  return {
    PATH: defaultSearchPath,
    HOME: homeOf(config),
    HOSTNAME: sandbox.config.hostname,
    ...entry?.env,
    ...Object.fromEntries(config.envs.map(({ key, value }) => [key, value])),
    COXSWAIN_POD_IP: sandbox.address ?? hostAddress,
    [containerIdVariable]: container.id,
  }
}

/** Undefined if the pod has no DNS settings. The machine's file is used then. */
function resolvConfOf({ config: { dns } }: SandboxRecord): string | undefined {
  return dns.servers.length + dns.searches.length + dns.options.length > 0 ? formatResolvConf(dns) : undefined
}

const homeOf = ({ user: { uid = 0 } }: ContainerConfig) => (uid === 0 || isPodUser(uid) ? '/root' : '/')
