import type { ManagedController } from '../kit/index.ts'
import { localPathMaker } from './provision.ts'
import { localPathRemover } from './remove.ts'
import { standardClassMaker } from './standard-class.ts'

/** The controllers that create and delete volumes in directories of nodes, below `root`, and their storage class. */
export const localPathControllers = (root: string): readonly ManagedController[] => [
  standardClassMaker,
  localPathMaker(root),
  localPathRemover,
]
