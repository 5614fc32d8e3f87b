import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { firstPodUser } from '../../runtime/pod-users.ts'
import { enterNamespaceCommand } from './namespace-view.ts'
import { type ViewKind, enterCommand } from './root-view.ts'
import { defaultSearchPath, findTool } from './tools.ts'

const needed = ['unshare', 'nsenter', 'chroot', 'mount', 'umount', 'setpriv', 'env'] as const

/**
 * Determines by a trial whether containers can have their own root directories. This requires root, or a kernel with
 * unprivileged user namespaces.
 */
export async function bestView(directory: string): Promise<{ kind: ViewKind; why: string }> {
  const links = (why: string) => ({ kind: 'links' as const, why })
  if (process.platform !== 'linux') return links('it requires Linux')
  const missing = needed.filter((tool) => !findTool(tool))
  if (missing.length > 0) return links(`this machine lacks ${missing.join(', ')}`)
  const isRoot = process.getuid?.() === 0
  const kind = isRoot ? 'own' : 'namespace'
  const trial = mkdtempSync(path.join(directory, 'trial-'))
  try {
    const user = isRoot ? { uid: firstPodUser, gid: firstPodUser, supplementalGroups: [] } : { supplementalGroups: [] }
    const config = { mounts: [], workingDir: '/', user, noNewPrivileges: isRoot, readOnlyRootFilesystem: false }
    const [program, ...args] = (isRoot ? enterCommand : enterNamespaceCommand)(
      { kind, directory: trial, hostname: 'trial', config },
      { command: ['true'], carried: [] },
      1,
    )
    await new Promise<void>((resolve, reject) =>
      execFile(program!, args, { env: { PATH: defaultSearchPath } }, (error, stdout) =>
        error ? reject(new Error(stdout.trim() || error.message)) : resolve(),
      ),
    )
    return { kind, why: '' }
  } catch (e) {
    return links(`the kernel does not allow it: ${lastLine((e as Error).message)}`)
  } finally {
    rmSync(trial, { recursive: true, force: true })
  }
}

/**
 * Determines whether pods can be isolated on this machine, and the reason if they cannot. `directory` takes the files
 * of a trial.
 */
export async function processIsolation(directory: string): Promise<{ isIsolated: boolean; why: string }> {
  const { kind, why } = await bestView(directory)
  return { isIsolated: kind !== 'links', why }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''
