/** Images of virtual machines on this machine, as much of them as the command may see; the composition says where they are. */

export interface ImageStep {
  readonly text: string;
  /** Of this step; absent where nobody can tell. */
  readonly percent?: number;
}

export interface ImageHere {
  readonly name: string;
  readonly description: string;
  /** Absent: it has not been built. */
  readonly built?: { readonly hash: string; readonly builtAt: string; readonly rootBytes: number; readonly kernelRelease: string };
}

export interface ImageDetailsHere extends ImageHere {
  /** Beside those of base. */
  readonly packages: readonly string[];
  readonly files?: { readonly kernel: string; readonly initrd: string; readonly root: string };
  readonly root?: {
    readonly rootSha256: string;
    readonly node: { readonly version: string };
    readonly packages: readonly { readonly name: string; readonly version: string }[];
  };
}

export interface ImagesHere {
  readonly directory: string;
  list(): Promise<readonly ImageHere[]>;
  inspect(name: string): Promise<ImageDetailsHere>;
  verify(name: string): Promise<boolean>;
  build(
    name: string,
    options: { readonly signal: AbortSignal; readonly onProgress: (step: ImageStep) => void; readonly force: boolean },
  ): Promise<{ readonly hash: string }>;
  prune(options: {
    readonly signal: AbortSignal;
    readonly budgetBytes?: number;
    readonly onWait: () => void;
  }): Promise<{ readonly removed: readonly { readonly path: string; readonly bytes: number }[]; readonly keptBytes: number }>;
}
