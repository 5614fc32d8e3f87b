import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import type { CSINode, CSINodeDriver } from '../../../api/generated/types.ts'
import { validateCsiDriverName } from '../../../api/kinds/volumes/volume-sources.ts'
import { immutableMessage, validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, invalid, required } from '../../../api/validation/field-error.ts'
import { byteLength, isQualifiedName, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const maxNodeIdLength = 256
const driversPath = Path.of('spec', 'drivers')

const driversOf = (node: CSINode): readonly CSINodeDriver[] => node.spec.drivers ?? []

function validateNodeId(nodeId: string | undefined, path: Path): FieldError[] {
  if (!nodeId) return [required(path)]
  return byteLength(nodeId) > maxNodeIdLength
    ? [invalid(path, nodeId, `must be ${maxNodeIdLength} characters or less`)]
    : []
}

function validateTopologyKeys(keys: readonly string[] | undefined, path: Path): FieldError[] {
  const seen = new Set<string>()
  return (keys ?? []).flatMap((key) => {
    const errors = key === '' ? [required(path)] : []
    if (seen.has(key)) errors.push(duplicate(path, key))
    seen.add(key)
    return [...errors, ...isQualifiedName(key).map((problem) => invalid(path, key, problem))]
  })
}

function validate(node: CSINode): FieldError[] {
  const names = new Set<string>()
  return driversOf(node).flatMap((driver, i) => {
    const path = driversPath.index(i)
    const errors: FieldError[] = []
    validateCsiDriverName(driver.name, path.child('name'), errors)
    errors.push(
      ...validateNodeId(driver.nodeID, path.child('nodeID')),
      ...validateNonnegative(driver.allocatable?.count, path.child('allocatable', 'count')),
    )
    if (names.has(driver.name)) errors.push(duplicate(path.child('name'), driver.name))
    names.add(driver.name)
    return [...errors, ...validateTopologyKeys(driver.topologyKeys, path)]
  })
}

/** Validates that a registered driver is unchanged, apart from its allocatable count. */
function validateSameDrivers(node: CSINode, old: CSINode): FieldError[] {
  const byName = new Map<string, ReturnType<typeof driversOf>[number][]>()
  for (const driver of driversOf(node)) {
    const same = byName.get(driver.name)
    if (same) same.push(driver)
    else byName.set(driver.name, [driver])
  }
  return driversOf(old).flatMap((before) =>
    (byName.get(before.name) ?? [])
      .filter((driver) => !semanticEqual({ ...driver, allocatable: undefined }, { ...before, allocatable: undefined }))
      .map(({ name, nodeID, topologyKeys }) =>
        invalid(
          driversPath,
          { Name: name, NodeID: nodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null },
          immutableMessage,
        ),
      ),
  )
}

export const csinodes = defineResource<CSINode>({
  ...kindNames.csinodes,
  nameRule: subdomainName,
  allowUnconditionalUpdate: false,
  deleteAnswersObject: true,
  validate,
  validateUpdate: (node, old) => [...validate(node), ...validateSameDrivers(node, old)],
  columns: [
    nameColumn(),
    {
      name: 'Drivers',
      type: 'integer',
      description: 'Drivers indicates the number of CSI drivers registered on the node',
      cell: (node) => driversOf(node).length,
    },
    ageColumn(),
  ],
})
