; The setup program: for this person without an administrator, or for everybody with one (Inno Setup help).
[Setup]
AppId={{6E0B9C5D-0C1A-4C0E-9E6B-0A5D2B7C41F2}
AppName=Pilothouse
AppVersion={#Version}
AppPublisher=The Pilothouse developers
DefaultDirName={autopf}\Pilothouse
DefaultGroupName=Pilothouse
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
OutputDir={#Out}
OutputBaseFilename={#Name}
SetupIconFile={#Icon}
UninstallDisplayIcon={app}\pilothouse-window.exe
Compression=lzma2
SolidCompression=yes
WizardStyle=modern
ChangesEnvironment=yes
#ifdef Signed
SignTool=pilothouse
SignedUninstaller=yes
#endif

[Tasks]
Name: "path"; Description: "Add the command pilothouse to PATH"; Flags: unchecked

[InstallDelete]
; What an older version had and this one has not must not be imported.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Bundle}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Pilothouse"; Filename: "{app}\pilothouse-window.exe"
Name: "{group}\Pilothouse (recorded incident)"; Filename: "{app}\pilothouse-window.exe"; Parameters: "demo"

[Registry]
Root: HKA; Subkey: "{code:EnvironmentKey}"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; Tasks: path; Check: NotInPath

[Code]
function EnvironmentKey(Param: String): String;
begin
  if IsAdminInstallMode then
    Result := 'System\CurrentControlSet\Control\Session Manager\Environment'
  else
    Result := 'Environment';
end;

function NotInPath: Boolean;
var
  Before: String;
begin
  if not RegQueryStringValue(HKA, EnvironmentKey(''), 'Path', Before) then
    Before := '';
  Result := Pos(';' + Lowercase(ExpandConstant('{app}')) + ';', ';' + Lowercase(Before) + ';') = 0;
end;

procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Before, Own: String;
  Place: Integer;
begin
  if Step <> usPostUninstall then
    Exit;
  if not RegQueryStringValue(HKA, EnvironmentKey(''), 'Path', Before) then
    Exit;
  Own := ';' + ExpandConstant('{app}');
  Place := Pos(Lowercase(Own), Lowercase(Before));
  if Place > 0 then
  begin
    Delete(Before, Place, Length(Own));
    RegWriteExpandStringValue(HKA, EnvironmentKey(''), 'Path', Before);
  end;
end;
