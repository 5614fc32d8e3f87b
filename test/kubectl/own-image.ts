import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'

/** Directories of which a process pod has its own instance, so that it cannot see the machine's files below them. */
const hiddenFromPods = ['/tmp', '/var/tmp', '/run', '/root', '/dev', '/proc', '/sys']

/** Directories that pods can see and that some user of a test machine may write to. */
const visibleToPods = ['/var/lib', '/opt', '/srv', '/usr/local', homedir()]

const isHidden = (at: string) => hiddenFromPods.some((folder) => realpathSync(at).startsWith(`${folder}/`))

/**
 * Writes an image catalogue in which the image `coxswain` is this package, for the tests of one file. Returns the path
 * of the catalogue. Pods run a copy of the program if they cannot see the checkout, for example below /tmp.
 */
export function useOwnImage(): string {
  const checkout = path.resolve(import.meta.dirname, '../..')
  const dir = isHidden(checkout) || isHidden(process.execPath) ? visibleDirectory(checkout) : mkdtempSync(path.join(tmpdir(), 'coxswain-image-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const program = isHidden(checkout) ? copyProgram(checkout, dir) : path.join(checkout, 'bin/coxswain')
  const node = isHidden(process.execPath) ? path.join(dir, 'node') : process.execPath
  if (node !== process.execPath) copyFileSync(process.execPath, node)
  const catalogue = path.join(dir, 'images.yaml')
  writeFileSync(catalogue, `images:\n- image: coxswain\n  command: [${node}, ${program}]\n`)
  return catalogue
}

/** Creates a directory that pods can see and read. */
function visibleDirectory(checkout: string): string {
  for (const parent of visibleToPods) {
    try {
      if (isHidden(path.join(parent, '.'))) continue
      const dir = mkdtempSync(path.join(parent, 'coxswain-image-'))
      chmodSync(dir, 0o755)
      return dir
    } catch {
      // This user may not write there, or the machine does not have it.
    }
  }
  throw new Error(
    `pods of the process runtime cannot see ${checkout} or ${process.execPath}, and a copy of them can be written to none of ${visibleToPods.join(', ')}: use a checkout and a Node.js outside of ${hiddenFromPods.join(', ')}`,
  )
}

/** Copies the built program and what it reads at runtime. Returns the path of the copy. */
function copyProgram(checkout: string, dir: string): string {
  // The program builds itself first if its sources are newer.
  execFileSync(process.execPath, [path.join(checkout, 'bin/coxswain'), '--version'], { stdio: 'ignore' })
  for (const name of ['bin', 'dist', 'package.json']) cpSync(path.join(checkout, name), path.join(dir, name), { recursive: true })
  return path.join(dir, 'bin/coxswain')
}
