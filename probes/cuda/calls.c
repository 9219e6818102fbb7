/*
 * What CUDA's calls do, by their exact names.
 *
 * Called when kinds of records are switched, and once for each function whose record arrives. CUPTI has about 1,450
 * calls in two domains. These lists have those that dwell treats differently. They have exact names: a rule for
 * beginnings of names takes in calls that later versions add, such as __cudaLaunchKernel(), which launches, among
 * __cudaRegisterFunction() and others. tests/probes/cupti_names.py holds the lists against the names of every CUPTI
 * that pip has.
 *
 * CUPTI's names have the version of CUDA in which a call got its arguments, and one for streams of threads:
 * cudaMemcpyBatchAsync_ptsz_v12080, cuMemcpyHtoD_v2_ptds. The lists have none of that. A blank follows each name.
 */
#include "cuda.h"

#include <ctype.h>
#include <string.h>

/* They give a device work: kernels, graphs, copies, sets. */
static const char calls_submit[] =
	" "
	"__cudaLaunchKernel cudaGraphLaunch cudaGraphUpload cudaLaunch cudaLaunchCooperativeKernel "
	"cudaLaunchCooperativeKernelMultiDevice cudaLaunchHostFunc cudaLaunchKernel cudaLaunchKernelExC "
	"cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardBatchAsync cudaMemPrefetchAsync cudaMemPrefetchBatchAsync cudaMemcpy "
	"cudaMemcpy2D cudaMemcpy2DArrayToArray cudaMemcpy2DAsync cudaMemcpy2DFromArray cudaMemcpy2DFromArrayAsync cudaMemcpy2DToArray "
	"cudaMemcpy2DToArrayAsync cudaMemcpy3D cudaMemcpy3DAsync cudaMemcpy3DBatchAsync cudaMemcpy3DPeer cudaMemcpy3DPeerAsync "
	"cudaMemcpy3DWithAttributesAsync cudaMemcpyArrayToArray cudaMemcpyAsync cudaMemcpyBatchAsync cudaMemcpyFromArray "
	"cudaMemcpyFromArrayAsync cudaMemcpyFromSymbol cudaMemcpyFromSymbolAsync cudaMemcpyPeer cudaMemcpyPeerAsync cudaMemcpyToArray "
	"cudaMemcpyToArrayAsync cudaMemcpyToSymbol cudaMemcpyToSymbolAsync cudaMemcpyWithAttributesAsync cudaMemset cudaMemset2D "
	"cudaMemset2DAsync cudaMemset3D cudaMemset3DAsync cudaMemsetAsync cuGraphLaunch cuGraphLaunchWithArguments cuGraphUpload "
	"cuLaunch cuLaunchCooperativeKernel cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync cuLaunchHostFunc "
	"cuLaunchKernel cuLaunchKernelEx cuMemBatchDecompressAsync cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync "
	"cuMemPrefetchAsync cuMemPrefetchBatchAsync cuMemcpy cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D "
	"cuMemcpy3DAsync cuMemcpy3DBatchAsync cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3DWithAttributesAsync cuMemcpyAsync "
	"cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyBatchAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync "
	"cuMemcpyDtoH cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemcpyPeer cuMemcpyPeerAsync "
	"cuMemcpyWithAttributesAsync cuMemsetD16 cuMemsetD16Async cuMemsetD2D16 cuMemsetD2D16Async cuMemsetD2D32 cuMemsetD2D32Async "
	"cuMemsetD2D8 cuMemsetD2D8Async cuMemsetD32 cuMemsetD32Async cuMemsetD8 cuMemsetD8Async cuSubgridScheduleLaunch ";

/* The host waits for a device. */
static const char calls_wait[] =
	" "
	"cudaDeviceSynchronize cudaEventSynchronize cudaExecutionCtxSynchronize cudaStreamSynchronize cudaThreadSynchronize "
	"cuCtxSynchronize cuEventSynchronize cuStreamSynchronize ";

/* They ask for something, or set what later calls of the thread use, and do nothing with a device. A launch of PyTorch
 * comes with 18 of them. Those that make a context or load code are not here: they take long, if seldom. */
static const char calls_ask[] =
	" "
	"__cudaGetKernel __cudaGetProcAddress __cudaPopCallConfiguration __cudaPushCallConfiguration __cudaRegisterFatBinary "
	"__cudaRegisterFatBinaryEnd __cudaRegisterFunction __cudaRegisterHostVar __cudaRegisterManagedVar __cudaRegisterUnifiedTable "
	"__cudaRegisterVar __cudaUnregisterFatBinary cudaDeviceGetAttribute cudaDeviceGetByPCIBusId cudaDeviceGetCacheConfig "
	"cudaDeviceGetDefaultMemPool cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaDeviceGetGraphMemAttribute "
	"cudaDeviceGetHostAtomicCapabilities cudaDeviceGetLimit cudaDeviceGetMemPool cudaDeviceGetNvSciSyncAttributes "
	"cudaDeviceGetP2PAtomicCapabilities cudaDeviceGetP2PAttribute cudaDeviceGetPCIBusId cudaDeviceGetSharedMemConfig "
	"cudaDeviceGetStreamPriorityRange cudaDeviceGetTexture1DLinearMaxWidth cudaFuncGetAttributes cudaFuncGetName "
	"cudaFuncGetParamCount cudaFuncGetParamInfo cudaGetChannelDesc cudaGetDevice cudaGetDeviceCount cudaGetDeviceFlags "
	"cudaGetDeviceProperties cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion cudaGetErrorName cudaGetErrorString "
	"cudaGetExportTable cudaGetFuncBySymbol cudaGetKernel cudaGetLastError cudaGetMipmappedArrayLevel "
	"cudaGetSurfaceObjectResourceDesc cudaGetSurfaceReference cudaGetSymbolAddress cudaGetSymbolSize "
	"cudaGetTextureAlignmentOffset cudaGetTextureObjectResourceDesc cudaGetTextureObjectResourceViewDesc "
	"cudaGetTextureObjectTextureDesc cudaGetTextureReference cudaOccupancyAvailableDynamicSMemPerBlock "
	"cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags "
	"cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize cudaPeekAtLastError cudaPointerGetAttributes "
	"cudaSetDevice cudaSetDeviceFlags cudaStreamGetAttribute cudaStreamGetCaptureInfo cudaStreamGetDevResource "
	"cudaStreamGetDevice cudaStreamGetFlags cudaStreamGetId cudaStreamGetPriority cudaStreamIsCapturing "
	"cudaThreadExchangeStreamCaptureMode cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevResource "
	"cuCtxGetDevice cuCtxGetExecAffinity cuCtxGetFlags cuCtxGetId cuCtxGetLimit cuCtxGetSharedMemConfig "
	"cuCtxGetStreamPriorityRange cuCtxPopCurrent cuCtxPushCurrent cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags "
	"cuCtxSetSharedMemConfig cuDeviceGet cuDeviceGetAttribute cuDeviceGetByPCIBusId cuDeviceGetCliqueCount cuDeviceGetCliqueInfo "
	"cuDeviceGetCount cuDeviceGetDefaultMemPool cuDeviceGetDevResource cuDeviceGetExecAffinitySupport "
	"cuDeviceGetFabricClusterUuid cuDeviceGetGraphMemAttribute cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid "
	"cuDeviceGetMemPool cuDeviceGetName cuDeviceGetNvSciSyncAttributes cuDeviceGetP2PAtomicCapabilities cuDeviceGetP2PAttribute "
	"cuDeviceGetPCIBusId cuDeviceGetProperties cuDeviceGetTexture1DLinearMaxWidth cuDeviceGetUuid cuDevicePrimaryCtxGetState "
	"cuDevicePrimaryCtxSetFlags cuDriverGetGpuCodeIsaVersion cuDriverGetVersion cuFuncGetAttribute cuFuncGetDeviceCodeInfo "
	"cuFuncGetModule cuFuncGetName cuFuncGetParamCount cuFuncGetParamInfo cuGetErrorName cuGetErrorString cuGetExportTable "
	"cuGetProcAddress cuKernelGetAttribute cuKernelGetDeviceCodeInfo cuKernelGetFunction cuKernelGetLibrary cuKernelGetName "
	"cuKernelGetParamCount cuKernelGetParamInfo cuLibraryGetGlobal cuLibraryGetKernel cuLibraryGetKernelCount cuLibraryGetManaged "
	"cuLibraryGetUnifiedFunction cuModuleGetFunction cuModuleGetFunctionCount cuModuleGetGlobal cuModuleGetLoadingMode "
	"cuModuleGetSurfRef cuModuleGetTexRef cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor "
	"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialBlockSize "
	"cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyMaxPotentialClusterSize cuPointerGetAttribute cuPointerGetAttributes "
	"cuStreamGetAttribute cuStreamGetCaptureInfo cuStreamGetCtx cuStreamGetDevResource cuStreamGetDevice cuStreamGetFlags "
	"cuStreamGetGreenCtx cuStreamGetId cuStreamGetPriority cuStreamIsCapturing ";

/* A stream is captured as a graph, and not any more. */
static const char calls_capture[] = " cudaStreamBeginCapture cudaStreamBeginCaptureToGraph cudaStreamBeginRecaptureToGraph "
	"cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginRecaptureToGraph ";
static const char calls_captured[] = " cudaStreamEndCapture cuStreamEndCapture ";

/* The length of a name without what follows "cudaMemcpyBatchAsync" in "cudaMemcpyBatchAsync_ptsz_v12080". */
static size_t calls_plain_length(const char *name)
{
	size_t length = strlen(name), at;

	for (at = length; at && name[at - 1] != '_';)
		at--;
	if (at > 1 && name[at] == 'v' && isdigit((unsigned char)name[at + 1]))
		length = at - 1;
	if (length > 5 && (strncmp(name + length - 5, "_ptsz", 5) == 0 || strncmp(name + length - 5, "_ptds", 5) == 0))
		length -= 5;
	if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v' && isdigit((unsigned char)name[length - 1]))
		length -= 3;
	return length;
}

static bool calls_has(const char *list, const char *name, size_t length)
{
	for (const char *at = list; (at = strstr(at, name)); at++)
		if (at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

enum dwc_call dwc_call_of(const char *name)
{
	static const struct { const char *names; enum dwc_call does; } lists[] = {
		{ calls_ask, DWC_CALL_ASKS }, { calls_submit, DWC_CALL_SUBMITS }, { calls_wait, DWC_CALL_WAITS },
		{ calls_capture, DWC_CALL_CAPTURES }, { calls_captured, DWC_CALL_CAPTURED },
	};
	size_t length = calls_plain_length(name);
	char plain[128];

	if (!length || length >= sizeof plain)
		return DWC_CALL_OTHER;
	memcpy(plain, name, length);
	plain[length] = '\0';
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (calls_has(lists[i].names, plain, length))
			return lists[i].does;
	return DWC_CALL_OTHER;
}
