import { type CatalogueEntry, type ControllerSettings, accounts, catalogue } from './catalogue.ts'
import type { ManagedController } from './kit/index.ts'

/**
 * Reports whether a selection such as `*,-cronjob-controller` includes a controller. The first entry that names it
 * takes precedence over `*`.
 */
function isSelected(name: string, selection: readonly string[]): boolean {
  const named = selection.find((item) => item === name || item === `-${name}`)
  return named ? named === name : selection.includes('*')
}

/** The controllers that `--controllers` selects. Throws with a message for the user if a name is unknown. */
export function selectControllers(
  selection: readonly string[],
  settings: ControllerSettings,
  from: Readonly<Record<string, CatalogueEntry>> = catalogue,
): Map<string, readonly ManagedController[]> {
  const unknown = selection.find((item) => item !== '*' && !Object.hasOwn(from, item.replace(/^-/, '')))
  if (unknown !== undefined) {
    throw new Error(
      `${JSON.stringify(unknown.replace(/^-/, ''))} is not in the list of known controllers: ${Object.keys(from).join(', ')}`,
    )
  }
  const told = { knowsCloneSets: isSelected('cloneset-controller', selection), ...settings }
  const selected = new Map<string, readonly ManagedController[]>()
  for (const [name, entry] of Object.entries(from)) {
    if (!isSelected(name, selection)) continue
    const controllers = [typeof entry === 'function' ? entry(told) : entry].flat()
    selected.set(
      name,
      accounts[name] === undefined
        ? controllers
        : controllers.map((controller) => ({ ...controller, account: accounts[name] })),
    )
  }
  return selected
}
